extends SceneTree
# Loads res://character.glb as Godot imported it and writes, for every time in times.json, what it
# would send to the graphics card: surface arrays, blend weights, skin matrices.

func _init():
	var file = File.new()
	file.open("res://times.json", File.READ)
	var times = parse_json(file.get_as_text())
	file.close()
	var scene = load("res://character.glb").instance()
	get_root().add_child(scene)
	var body = find_skinned(scene)
	var player = find_player(scene)
	var mesh = body.mesh
	var arrays = mesh.surface_get_arrays(0)
	write("rest.bin", vectors(arrays[Mesh.ARRAY_VERTEX]))
	write("bones.bin", arrays[Mesh.ARRAY_BONES])
	write("weights.bin", arrays[Mesh.ARRAY_WEIGHTS])
	var shapes = mesh.surface_get_blend_shape_arrays(0)
	for index in range(shapes.size()):
		write("shape_%d.bin" % index, vectors(shapes[index][Mesh.ARRAY_VERTEX]))
	var take = player.get_animation_list()[0]
	player.play(take)
	player.stop(false)
	for index in range(times.size()):
		player.seek(times[index], true)
		var shares = []
		for shape in range(shapes.size()):
			shares.append(body.get("blend_shapes/" + mesh.get_blend_shape_name(shape)))
		write("shares_%d.bin" % index, shares)
		write("matrices_%d.bin" % index, skin_matrices(body))
	var report = File.new()
	report.open("res://report.json", File.WRITE)
	report.store_string(to_json({
		"shapes": shapes.size(),
		"relative": mesh.blend_shape_mode == ArrayMesh.BLEND_SHAPE_MODE_RELATIVE,
		"length": player.get_animation(take).length,
	}))
	report.close()
	quit()

func find_skinned(node):
	if node is MeshInstance and node.skin != null:
		return node
	for child in node.get_children():
		var found = find_skinned(child)
		if found != null:
			return found
	return null

func find_player(node):
	if node is AnimationPlayer:
		return node
	for child in node.get_children():
		var found = find_player(child)
		if found != null:
			return found
	return null

func skin_matrices(body):
	var skeleton = body.get_node(body.skeleton)
	var values = []
	for bind in range(body.skin.get_bind_count()):
		var bone = body.skin.get_bind_bone(bind)
		if bone < 0:
			bone = skeleton.find_bone(body.skin.get_bind_name(bind))
		var matrix = skeleton.get_bone_global_pose(bone) * body.skin.get_bind_pose(bind)
		var place = skeleton.global_transform * matrix
		for row in range(3):
			for column in range(3):
				values.append(place.basis[column][row])
			values.append(place.origin[row])
	return values

func vectors(points):
	var values = []
	for point in points:
		values.append(point.x)
		values.append(point.y)
		values.append(point.z)
	return values

func write(name, values):
	var file = File.new()
	file.open("res://" + name, File.WRITE)
	for value in values:
		file.store_float(value)
	file.close()
