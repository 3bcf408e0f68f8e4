# Runs a live predictor without a scene: godot -s dynamics_stub.gd in a project with predictor.gd.
extends SceneTree

func read(path):
	var file = File.new()
	file.open(path, File.READ)
	return JSON.parse(file.get_as_text()).result

func _init():
	var job = read("res://job.json")
	var predictor = load("res://predictor.gd").new()
	predictor.use(read("res://anna_dynamics.json"))
	var found = []
	for n in range(job.turns.size()):
		found.append(predictor.step(job.turns[n], job.roots[n], job.seconds))
	var file = File.new()
	file.open("res://weights.json", File.WRITE)
	var rows = []
	for row in found:
		var words = []
		for weight in row:
			words.append("%.9f" % weight)
		rows.append("[" + PoolStringArray(words).join(",") + "]")
	file.store_string("[" + PoolStringArray(rows).join(",") + "]")
	file.close()
	quit()
