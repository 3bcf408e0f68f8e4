"""Bodies from sliders: gender, age, muscle, weight, height, proportions."""
