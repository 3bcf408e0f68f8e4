extends SceneTree
# Draws res://character.glb, as Godot imported it, at the time in draw_at.json: res://picture.png.

var frames = 0

func _init():
	var file = File.new()
	file.open("res://draw_at.json", File.READ)
	var time = float(parse_json(file.get_as_text()))
	file.close()
	var scene = load("res://character.glb").instance()
	get_root().add_child(scene)
	var player = find_player(scene)
	player.play(player.get_animation_list()[0])
	player.stop(false)
	player.seek(time, true)
	var camera = Camera.new()
	camera.fov = 35
	get_root().add_child(camera)
	camera.look_at_from_position(Vector3(0.9, 1.3, 3.1), Vector3(0, 0.85, 0), Vector3(0, 1, 0))
	camera.current = true
	var sun = DirectionalLight.new()
	sun.light_energy = 0.7
	get_root().add_child(sun)
	sun.look_at_from_position(Vector3(1, 2, 3), Vector3(0, 0, 0), Vector3(0, 1, 0))
	var world = WorldEnvironment.new()
	world.environment = Environment.new()
	world.environment.background_mode = Environment.BG_COLOR
	world.environment.background_color = Color(0, 0, 0) # Godot mirrors a bright one in all skin
	world.environment.ambient_light_color = Color(1, 1, 1)
	world.environment.ambient_light_energy = 0.45
	world.environment.ambient_light_sky_contribution = 0
	get_root().add_child(world)
	camera.add_child(backdrop())

func backdrop():
	var wall = MeshInstance.new()
	wall.mesh = QuadMesh.new()
	wall.mesh.size = Vector2(60, 60)
	wall.material_override = SpatialMaterial.new()
	wall.material_override.flags_unshaded = true
	wall.material_override.albedo_color = Color(0.95, 0.94, 0.92)
	wall.translation = Vector3(0, 0, -20)
	return wall

func _idle(_delta):
	frames += 1
	if frames == 5:
		var picture = get_root().get_texture().get_data()
		picture.flip_y()
		picture.save_png("res://picture.png")
		quit() # what _idle returns, a SceneTree does not heed
	return false

func find_player(node):
	if node is AnimationPlayer:
		return node
	for child in node.get_children():
		var found = find_player(child)
		if found != null:
			return found
	return null
