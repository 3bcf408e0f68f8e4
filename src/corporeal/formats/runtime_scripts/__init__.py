"""Small scripts beside an exported character that compute its corrective weights from the pose.

One module a program: Blender, three.js, Unity. Each fills its template with the tables of
`LiveWeights`; the filled script needs nothing but the program that it is for.
"""
