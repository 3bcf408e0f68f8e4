"""Rigs of public archives: CMU, SFU, and files with z up."""

from producers.rig import HEAD, MOTIONBUILDER, SIDES, XSENS_ROLES, Z_UP, Rig, sided

_CMU_TREE = """
. Hips 0 0 0
.. LHipJoint 0 0 0
... LeftUpLeg 1.778 -1.890 0.483
.... LeftLeg 2.534 -6.963 0
..... LeftFoot 2.711 -7.448 0
...... LeftToeBase 0.180 -0.494 2.225
.. RHipJoint 0 0 0
... RightUpLeg -1.585 -1.890 0.483
.... RightLeg -2.604 -7.154 0
..... RightFoot -2.733 -7.510 0
...... RightToeBase -0.256 -0.704 2.218
.. LowerBack 0 0 0
... Spine 0.034 2.016 -0.222
.... Spine1 0.035 2.030 0.009
..... Neck 0 0 0
...... Neck1 -0.002 1.705 0.209
....... Head 0.025 1.723 -0.222
..... LeftShoulder 0 0 0
...... LeftArm 3.364 1.005 -0.377
....... LeftForeArm 5.065 0 0
........ LeftHand 3.602 0 0
..... RightShoulder 0 0 0
...... RightArm -3.502 0.804 -0.715
....... RightForeArm -5.364 0 0
........ RightHand -3.580 0 0
"""

_SFU_TREE = """
. Hips 0 0 0
.. LeftUpLeg 9.2698 0 0
... LeftLeg 0 -39.8928 0
.... LeftFoot 0 -39.1635 0
..... LeftToeBase 0 -3.9 14.5551
.. RightUpLeg -9.2698 0 0
... RightLeg 0 -39.8928 0
.... RightFoot 0 -39.1635 0
..... RightToeBase 0 -3.9 14.5551
.. Spine 0 0.1 0
... Spine1 0 26.0307 0
.... Neck 0 19.8803 0
..... Head 0 17.5442 0
.... LeftShoulder 0 19.8803 0
..... LeftArm 17.0439 -0.0001 0
...... LeftForeArm 27.7983 -0.0001 0
....... LeftHand 21.6411 -0.0001 0
........ LeftHandThumb 0 0 0
........ L_Wrist_End 10 0 0
.... RightShoulder 0 19.8803 0
..... RightArm -17.0439 -0.0001 0
...... RightForeArm -27.7983 -0.0001 0
....... RightHand -21.6411 -0.0001 0
........ RightHandThumb 0 0 0
........ R_Wrist_End -13.7 -0.0001 0
"""

_FAIR_TREE = """
. Hips 0 0 0
.. Spine 0 1.1527 1.7290
... Spine1 0 0.4003 2.2703
.... Spine2 0 0.2009 2.2966
..... Spine3 0 0 2.3053
...... Neck 0 -0.8645 6.0515
....... Head 0 -0.5504 3.1217
...... RightShoulder -0.7883 -1.3138 4.2567
....... RightArm -3.9151 0 0
........ RightForeArm -6.9149 0 0
......... RightHand -6.0962 0 0
.......... RightHandEnd -1.75 0 0
.......... RightHandThumb1 -0.7 -1.1666 -0.4667
...... LeftShoulder 0.7883 -1.3138 4.2567
....... LeftArm 3.9151 0 0
........ LeftForeArm 6.9149 0 0
......... LeftHand 6.0962 0 0
.......... LeftHandEnd 1.75 0 0
.......... LeftHandThumb1 0.7 -1.1666 -0.4667
.. RightUpLeg -2.3386 0 -0.6832
... RightLeg 0 0 -10.745
.... RightFoot 0 0 -10.9309
..... RightToeBase 0 -4.0873 -1.4877
.. LeftUpLeg 2.3386 0 -0.6832
... LeftLeg 0 0 -10.745
.... LeftFoot 0 0 -10.9309
..... LeftToeBase 0 -4.0873 -1.4877
"""

_SMPL_TREE = """
. Pelvis -0.1795 -22.3333 2.8219
.. L_Hip 6.9520 -9.1406 -0.6815
... L_Knee 3.4277 -37.5199 -0.4496
.... L_Ankle -1.3596 -39.7960 -4.3693
..... L_Foot 2.6358 -5.5791 11.9288
.. R_Hip -6.7670 -9.0522 -0.4320
... R_Knee -3.8290 -38.2569 -0.8850
.... R_Ankle 1.5774 -39.8415 -4.2312
..... R_Foot -2.5372 -4.8144 12.3348
.. Spine1 -0.2533 10.8963 -2.6696
... Spine2 0.5487 13.5180 0.1092
.... Spine3 0.1457 5.2922 2.5425
..... Neck -0.2778 21.3870 -4.2857
...... Head 0.5152 6.4970 5.1349
..... L_Collar 7.8845 12.1749 -3.4090
...... L_Shoulder 9.0977 3.0469 -0.8868
....... L_Elbow 25.9612 -1.2772 -2.7456
........ L_Wrist 24.9234 0.8986 -0.1171
..... R_Collar -8.1759 11.8833 -3.8615
...... R_Shoulder -9.6012 3.2551 -0.9143
....... R_Elbow -25.3742 -1.3329 -2.1401
........ R_Wrist -25.5298 0.7772 -0.5559
"""

RIGS: dict[str, Rig] = {
    "cmu": Rig(
        source="CMU mocap, 35_01_walk.bvh, the MotionBuilder-friendly release (docs/data.md); a "
        "test compares names, tree and offsets with the file",
        tree=_CMU_TREE,
        roles={"pelvis": "Hips", "neck": "Neck1", "head": "Head"} | sided(MOTIONBUILDER, S=SIDES),
        order="ZYX",
        metres=0.0254 / 0.45,
        spine=("LowerBack", "Spine", "Spine1"),
    ),
    "sfu": Rig(
        source="kevinxie4c/motion-viewer, 0005_2FeetJump001_metric.bvh",
        tree=_SFU_TREE,
        roles={"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER, S=SIDES),
        order="XYZ",
        spine=("Spine", "Spine1"),
    ),
    "z-up": Rig(
        source="facebookresearch/AnimatedDrawings, examples/bvh/fair1/dab.bvh",
        tree=_FAIR_TREE,
        roles={"pelvis": "Hips"} | HEAD | sided(MOTIONBUILDER, S=SIDES),
        order="XYZ",
        metres=0.0254,
        spine=("Spine", "Spine1", "Spine2", "Spine3"),
        axes={"Hips": "LBU"},
        world=Z_UP,
    ),
    "z-up-around-y-up": Rig(
        source="lched/python_motion, ref_Zup.bvh (its offsets; SMPL's names put right)",
        tree=_SMPL_TREE,
        roles={"pelvis": "Pelvis"} | HEAD
        | sided({role: name.replace("{S}", "{S}_").replace("Toe", "Foot")
                 for role, name in XSENS_ROLES.items()}, S=("L", "R")),
        order="ZYX",
        spine=("Spine1", "Spine2", "Spine3"),
        world=Z_UP,
    ),
}  # fmt: skip
"""One rig a producer."""
