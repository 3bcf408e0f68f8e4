"""Rigs of inertial suits and of data sets recorded with several."""

from producers.rig import HEAD, MOTIONBUILDER, SIDES, XSENS_ROLES, Rig, sided

_ROKOKO_TREE = """
. Hips 0 94 0
.. Spine 0 12.9947 0
... Spine1 12.7099 0 0
.... Spine2 12.7829 0 0
..... LeftShoulder 10.4351 -7.0401 1.9147
...... LeftArm 13.4599 0 0
....... LeftForeArm 26.1001 0 0
........ LeftHand 28.9001 0 0
..... Neck 18.2093 0 0
...... Head 11.0335 0 0
..... RightShoulder 10.4351 7.0401 1.9147
...... RightArm 13.4599 0 0
....... RightForeArm 26.1001 0 0
........ RightHand 28.9001 0 0
.. LeftUpLeg 8.1 0 0
... LeftLeg 43.2 0 0
.... LeftFoot 43.3 0 0
..... LeftToeBase 14.5727 0 0
.. RightUpLeg -8.1 0 0
... RightLeg 43.2 0 0
.... RightFoot 43.3 -0.0626 0
..... RightToeBase 14.5727 0 0
"""

_XSENS_TREE = """
. Hips 0 0 0
.. Chest 0 10.6789 0.0063
... Chest2 0 10.4912 -0.0114
.... Chest3 0 9.4793 0
..... Chest4 0 9.4793 0
...... Neck 0 13.5353 0
....... Head 0 8.8191 -0.0271
...... RightCollar -3.0125 7.5452 0
....... RightShoulder -13.6831 0 0
........ RightElbow -26.36 0 0
......... RightWrist -21.7467 0 0.0086
...... LeftCollar 3.0125 7.5452 0
....... LeftShoulder 13.6831 0 0
........ LeftElbow 26.36 0 0
......... LeftWrist 21.7467 0 0.0086
.. RightHip -8.6225 -0.0308 -0.0031
... RightKnee 0 -37.2092 -0.0026
.... RightAnkle 0 -37.3433 -0.0585
..... RightToe 0 -8.9035 15.0881
.. LeftHip 8.6225 -0.0308 -0.0031
... LeftKnee 0 -37.2092 -0.0026
.... LeftAnkle 0 -37.3433 -0.0585
..... LeftToe 0 -8.9035 15.0881
"""

_BANDAI_TREE = """
. joint_Root 0 0 0
.. Hips 0.0408 93.9915 0.0640
... Spine 15.7357 0 0
.... Chest 8.9846 -0.4062 0
..... Neck 16.3773 0 0
...... Head 6.4567 0 0
..... Shoulder_L 12.9942 -0.2427 4.9804
...... UpperArm_L 5.3481 0 0
....... LowerArm_L 24.3286 0 0
........ Hand_L 22.2916 0 0
..... Shoulder_R 12.9945 -0.2427 -4.9804
...... UpperArm_R -5.3481 0 0
....... LowerArm_R -24.3289 0.0003 0
........ Hand_R -22.2915 -0.0001 0
... UpperLeg_L -2.1925 -6.4694 0
.... LowerLeg_L 39.0811 0 0
..... Foot_L 40.9854 0 0
...... Toes_L 11.7543 0 0
... UpperLeg_R -2.1925 6.4694 0
.... LowerLeg_R -39.0811 0 0
..... Foot_R -40.9854 0 0
...... Toes_R -11.7543 0 0
"""

_LAFAN_TREE = """
. Hips -224.6895 91.8821 -431.6255
.. LeftUpLeg 0.1035 1.8578 10.5485
... LeftLeg 43.5 0 0
.... LeftFoot 42.3722 0 0
..... LeftToe 17.3 0 0
.. RightUpLeg 0.1035 1.8578 -10.5485
... RightLeg 43.5 0 0
.... RightFoot 42.3722 0 0
..... RightToe 17.3 0 0
.. Spine 6.9020 -2.6037 0
... Spine1 12.5881 0 0
.... Spine2 12.3432 0 0
..... Neck 25.8329 0 0
...... Head 11.7666 0 0
..... LeftShoulder 19.7459 -1.4803 6.0001
...... LeftArm 11.2841 0 0
....... LeftForeArm 33.0001 0 0
........ LeftHand 25.2 0 0
..... RightShoulder 19.7461 -1.4804 -6.0001
...... RightArm 11.2841 0 0
....... RightForeArm 33.0001 0 0
........ RightHand 25.1998 0.0001 0.0004
"""

RIGS: dict[str, Rig] = {
    "rokoko": Rig(
        source="facebookresearch/AnimatedDrawings, examples/bvh/rokoko/jesse_dance.bvh",
        tree=_ROKOKO_TREE,
        roles={"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER, S=SIDES),
        order="YXZ",
        spine=("Spine", "Spine1", "Spine2"),
        # Frame 0: Spine (0, 0, 90), LeftShoulder (0, 0, -90), RightShoulder (180, 0, 90),
        # LeftUpLeg (-3, -1, -88), LeftFoot (286, 90, 0), all YXZ.
        axes={"Spine": "URF", "LeftShoulder": "LUF", "RightShoulder": "RUB", "LeftUpLeg": "DLF",
              "RightUpLeg": "DLF", "LeftFoot": "FUR", "RightFoot": "FUR"},
        pitch_deg={"LeftFoot": 16.0, "RightFoot": 16.0},
    ),
    "bandai-namco": Rig(
        source="BandaiNamcoResearchInc/Bandai-Namco-Research-Motiondataset, "
        "dataset/Bandai-Namco-Research-Motiondataset-1/data/dataset-1_dash_normal_001.bvh",
        tree=_BANDAI_TREE,
        roles={"pelvis": "Hips"} | HEAD
        | sided({"hip": "UpperLeg_{S}", "knee": "LowerLeg_{S}", "ankle": "Foot_{S}",
                 "foot": "Toes_{S}", "collar": "Shoulder_{S}", "shoulder": "UpperArm_{S}",
                 "elbow": "LowerArm_{S}", "wrist": "Hand_{S}"}, S=("L", "R")),
        spine=("Spine", "Chest"),
        # Frame 0: Hips (92, 3, -20), Spine (86, 67, -90), Shoulder_L (-89, 10, -91), Shoulder_R
        # (90, 11, -88), UpperLeg_L (176, 1, -37), UpperLeg_R (-178, 4, 126), Foot_L (0, 3, -84).
        axes={"Hips": "URF", "Spine": "UFL", "Shoulder_L": "LUF", "Shoulder_R": "LDB",
              "UpperLeg_L": "DLF", "UpperLeg_R": "ULB", "Foot_L": "FLU", "Foot_R": "BLD"},
        pitch_deg={"Foot_L": 25.0, "Foot_R": 25.0},
        positions="all",
        carrier=True,
    ),
    "lafan1": Rig(
        source="voxell-tech/bevy_motion_matching, issue 10 (a LAFAN1 header); frame 0 as in "
        "stevenhaener/dynamo_scripts, lafan_breakdown.m",
        tree=_LAFAN_TREE,
        roles={"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER | {"foot": "{S}Toe"}, S=SIDES),
        order="ZYX",
        spine=("Spine", "Spine1", "Spine2"),
        # Frame 0: Hips (90, 1, 92), LeftUpLeg (176, -4, 173), LeftFoot (76, -2, -2), LeftToe (21,
        # 0, 0), LeftShoulder (-65, -84, -118), RightShoulder (-83, 80, 100), all ZYX.
        axes={"Hips": "UFL", "LeftUpLeg": "DFR", "RightUpLeg": "DFR", "LeftFoot": "FUR",
              "RightFoot": "FUR", "LeftShoulder": "LBU", "RightShoulder": "RBD"},
        pitch_deg={"LeftFoot": 16.0, "RightFoot": 16.0},
    ),
    "xsens": Rig(
        source="ousttrue/UniHumanoid, Scripts/Editor/Tests/BvhLoaderTests.cs (bvh_mocap2)",
        tree=_XSENS_TREE,
        roles={"pelvis": "Hips"} | HEAD | sided(XSENS_ROLES, S=SIDES),
        order="YXZ",
        spine=("Chest", "Chest2", "Chest3", "Chest4"),
    ),
}  # fmt: skip
"""One rig a producer."""
