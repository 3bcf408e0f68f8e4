"""Rigs of programs that animate: Mixamo, MotionBuilder, 3ds Max, Truebones' files, DAZ."""

from producers.rig import HEAD, MOTIONBUILDER, SIDES, Rig, sided

_MIXAMO_TREE = """
. mixamorig:Hips 0 0 0
.. mixamorig:Spine 0 9.9235 -1.2273
... mixamorig:Spine1 0 11.6455 -1.4224
.... mixamorig:Spine2 0 13.3602 -1.6265
..... mixamorig:Neck 0 15.0325 0.7929
...... mixamorig:Head 0 10.3218 3.1424
....... mixamorig:HeadTop_End 0 18.4747 6.6364
..... mixamorig:LeftShoulder 6.1059 9.1104 0.7056
...... mixamorig:LeftArm 12.6532 -0.3431 -2.6009
....... mixamorig:LeftForeArm 27.3517 -0.9645 -1.4034
........ mixamorig:LeftHand 27.5619 -0.7072 1.55
..... mixamorig:RightShoulder -6.1057 9.1105 0.7056
...... mixamorig:RightArm -12.6532 -0.3429 -2.6009
....... mixamorig:RightForeArm -27.3518 -0.9642 -1.4034
........ mixamorig:RightHand -27.5619 -0.7068 1.5501
.. mixamorig:RightUpLeg -9.1245 -6.6564 -0.0554
... mixamorig:RightLeg 0 -40.561 -1.7662
.... mixamorig:RightFoot 0.4978 -41.9625 -3.3512
..... mixamorig:RightToeBase -0.3734 -10.4922 12.6406
.. mixamorig:LeftUpLeg 9.1245 -6.6564 -0.0554
... mixamorig:LeftLeg 0 -40.561 -1.7662
.... mixamorig:LeftFoot -0.4978 -41.9625 -3.3512
..... mixamorig:LeftToeBase 0.3734 -10.4922 12.6406
"""

_CHARACTER1_TREE = """
. Character1_Hips 0 0 0
.. Character1_Spine 0 12 -1
... Character1_Spine1 0 22 0
.... Character1_LeftShoulder 4 18 0
..... Character1_LeftArm 13 0 0
...... Character1_LeftForeArm 27 0 0
....... Character1_LeftHand 25 0 0
....... L_Radius_RIGMESH 0 10 0
...... L_Humerus_RIGMESH 0 10 0
..... L_Shoulder_RIGMESH 0 0 10
.... Character1_RightShoulder -4 18 0
..... Character1_RightArm -13 0 0
...... Character1_RightForeArm -27 0 0
....... Character1_RightHand -25 0 0
....... R_Radius_RIGMESH 0 10 0
...... R_Humerus_RIGMESH 0 10 0
..... R_Shoulder_RIGMESH 0 0 10
.... Character1_Neck 0 24 0
..... Character1_Head 0 10 2
..... Neck_RIGMESH 0 0 10
.... Torso_RIGMESH 0 0 10
... Spine_RIGMESH 0 0 10
.. Character1_RightUpLeg -9 -6 0
... Character1_RightLeg 0 -42 0
.... Character1_RightFoot 0 -41 -2
..... Character1_RightToeBase 1.8706 -6.6952 14.7145
..... R_Talus_RIGMESH -10 0 0
.... R_Tibia_RIGMESH -10 0 0
... R_Femur_RIGMESH -10 0 0
.. Character1_LeftUpLeg 9 -6 0
... Character1_LeftLeg 0 -42 0
.... Character1_LeftFoot 0 -41 -2
..... Character1_LeftToeBase -1.8706 -6.6952 14.7145
..... L_Talus_RIGMESH 10 0 0
.... L_Tibia_RIGMESH 10 0 0
... L_Femur_RIGMESH 10 0 0
.. Pelvis_RIGMESH 0 0 10
"""

_BIPED_TREE = """
. Bip001_Pelvis 34.4345 95.6767 -26.8758
.. Bip001_Spine 0 10.2191 -0.0116
... Bip001_L_Thigh 11.0458 -10.2192 0.0116
.... Bip001_L_Calf -0.7071 -44.0221 0.36
..... Bip001_L_Foot -0.6519 -40.5938 -3.5615
...... Bip001_L_Toe0 0.0531 -10.2181 13.1504
... Bip001_R_Thigh -11.0458 -10.2191 0.0116
.... Bip001_R_Calf 0.7070 -44.0221 0.3598
..... Bip001_R_Foot 0.6518 -40.5938 -3.5613
...... Bip001_R_Toe0 -0.0531 -10.2181 13.1504
... Bip001_Spine1 0 14.5736 1.0864
.... Bip001_Spine2 0 14.5058 -1.6908
..... Bip001_Neck 0 15.3945 -0.4894
...... Bip001_L_Clavicle 6.0604 -0.0006 0.0084
....... Bip001_L_UpperArm 11.5509 -0.06 0.0019
........ Bip001_L_Forearm 25.9523 0.0806 -2.1555
......... Bip001_L_Hand 32.2475 0.1538 1.6397
...... Bip001_R_Clavicle -6.0604 -0.0006 0.0084
....... Bip001_R_UpperArm -11.5509 -0.06 0.0019
........ Bip001_R_Forearm -25.9523 0.0807 -2.1559
......... Bip001_R_Hand -32.2475 0.1539 1.6399
...... Bip001_Head 0 11.2744 2.0595
"""

_DAZ_TREE = """
. hip 0 0 0
.. abdomen 0 20.6881 -0.7315
... chest 0 11.7043 -0.4877
.... neck 0 22.1894 -2.1946
.... rcollar -2.6822 19.2634 -4.8768
..... rshldr -8.7782 -1.9507 1.4630
...... rforearm -28.1742 -1.7115 0.4877
....... rhand -22.5879 0.7732 7.0714
.... lcollar 2.6822 19.2634 -4.8768
..... lshldr 8.7782 -1.9507 1.4630
...... lforearm 28.1742 -1.7115 0.4877
....... lhand 22.5879 0.7732 7.0714
.. rbuttock -8.7782 4.3508 1.2192
... rthigh 0 -1.7069 -2.1946
.... rshin 0 -36.8199 0.7315
..... rfoot 0.7315 -45.1104 -5.1206
.. lbuttock 8.7782 4.3508 1.2192
... lthigh 0 -1.7069 -2.1946
.... lshin 0 -36.8199 0.7315
..... lfoot -0.7315 -45.1104 -5.1206
"""

_BIPED_ROLES = {"hip": "{B}_{S}_Thigh", "knee": "{B}_{S}_Calf", "ankle": "{B}_{S}_Foot",
                "foot": "{B}_{S}_Toe0", "collar": "{B}_{S}_Clavicle",
                "shoulder": "{B}_{S}_UpperArm", "elbow": "{B}_{S}_Forearm",
                "wrist": "{B}_{S}_Hand"}  # fmt: skip


def _truebones() -> Rig:
    """A human biped with what 3ds Max does to Truebones' files: a ROOT around the pelvis, position
    channels everywhere, and a constant turn of every joint's axes."""
    tree = "\n".join("." + row for row in _BIPED_TREE.strip().splitlines())
    tree = ". Hips 0 95.6767 0\n" + tree.replace("Bip001", "Bip01").replace(
        "Bip01_Pelvis 34.4345 95.6767 -26.8758", "Bip01_Pelvis 0 0 0"
    )
    return Rig(
        source="LuCazzola/PoseYdon, docs on raw Truebones exports: `ROOT Hips` around an unmoved "
        "`Bip01_Pelvis`, six channels ZXY a joint; tree and offsets of nitin-ppnp/GPLVM's biped",
        tree=tree,
        roles={"pelvis": "Bip01_Pelvis", "neck": "Bip01_Neck", "head": "Bip01_Head"}
        | sided(_BIPED_ROLES, B=("Bip01", "Bip01"), S=("L", "R")),
        spine=("Bip01_Spine", "Bip01_Spine1", "Bip01_Spine2"),
        positions="all",
    )


RIGS: dict[str, Rig] = {
    "mixamo": Rig(
        source="20tab/bvh-python, tests/test_freebvh.bvh",
        tree=_MIXAMO_TREE,
        roles={role: f"mixamorig:{name}" for role, name in
               ({"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER, S=SIDES)).items()},
        order="ZYX",
        spine=tuple(f"mixamorig:{name}" for name in ("Spine", "Spine1", "Spine2")),
    ),
    "motionbuilder": Rig(
        source="a public BVH writer for MotionBuilder (hierarchySectionTemplate, ROOT "
        "Character1_Hips): names, tree, channels, toes, helpers; it fills in bone lengths itself",
        tree=_CHARACTER1_TREE,
        roles={role: f"Character1_{name}" for role, name in
               ({"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER, S=SIDES)).items()},
        spine=("Character1_Spine", "Character1_Spine1"),
    ),
    "3ds-max-biped": Rig(
        source="nitin-ppnp/GPLVM, Data/HighFive/BVH/angry/IIIa/nick_angry_IIIa_2.bvh",
        tree=_BIPED_TREE,
        roles={"pelvis": "Bip001_Pelvis", "neck": "Bip001_Neck", "head": "Bip001_Head"}
        | sided(_BIPED_ROLES, B=("Bip001", "Bip001"), S=("L", "R")),
        spine=("Bip001_Spine", "Bip001_Spine1", "Bip001_Spine2"),
    ),
    "truebones": _truebones(),
    "daz": Rig(
        source="mrdoob/three.js, examples/models/bvh/pirouette.bvh",
        tree=_DAZ_TREE,
        roles={"pelvis": "hip", "neck": "neck"}
        | sided({"hip": "{s}thigh", "knee": "{s}shin", "ankle": "{s}foot", "collar": "{s}collar",
                 "shoulder": "{s}shldr", "elbow": "{s}forearm", "wrist": "{s}hand"},
                s=("l", "r")),
        order="ZYX",
        spine=("abdomen", "chest"),
    ),
}  # fmt: skip
"""One rig a producer."""
