"""What colour every pixel has: light, skin, cloth, tone curve, backdrop.

Columns of the vertex attributes: 0–2 position, 3–5 normal, 6–8 reflectance, 9 garment coverage,
10 gloss, 11–12 place on the decal, 13 sky seen, 14 key seen, 15 rim seen. Columns of the materials:
0 specular, 1 roughness, 2–4 wrap, 5–7 garment reflectance, 8 decal (−1 none), 9 response (0 plain,
1 skin, 2 strands); row 0 is cloth. On a surface with pictures, 11–12 are the place on them.

Skin scatters light under its surface, red furthest: every channel is lit by a normal of its own,
between that of the picture (blue) and the smooth one (red), and shadows have red rims (after
Jimenez et al. 2009 and the pre-integrated shading of Penner 2011). Strands reflect in a cone
about their direction (Kajiya and Kay 1989).
"""

import math

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.scene.textures_cpu import texel_at

HEM = 0.004
"""Width of the hem that is stitched along a garment's edge, metres."""


@kernel()
def _tone(x):
    """Filmic curve from scene light to display light (the fit of Narkowicz 2015)."""
    return min(max(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0), 1.0)


@kernel()
def _highlight(nl, nh, lh, specular, roughness):
    """Microfacet highlight (GGX), times the cosine to the light."""
    if nl <= 0.0:
        return 0.0
    a = roughness * roughness
    d = nh * nh * (a * a - 1.0) + 1.0
    fresnel = specular + (1.0 - specular) * (1.0 - lh) ** 5
    return nl * fresnel * a * a / (d * d * max(0.1, lh * lh) * (4.0 * roughness + 2.0))


@kernel()
def interpolate(corners, i, j, k, x, y, attributes, out):
    """Perspective-correct attributes of a triangle; gives back whether its front is seen."""
    xi, yi, wi = corners[i, 0], corners[i, 1], corners[i, 2]
    xj, yj, wj = corners[j, 0], corners[j, 1], corners[j, 2]
    xk, yk, wk = corners[k, 0], corners[k, 1], corners[k, 2]
    e0 = (yj * wk - wj * yk) * x + (wj * xk - xj * wk) * y + (xj * yk - yj * xk)
    e1 = (yk * wi - wk * yi) * x + (wk * xi - xk * wi) * y + (xk * yi - yk * xi)
    e2 = (yi * wj - wi * yj) * x + (wi * xj - xi * wj) * y + (xi * yj - yi * xj)
    total = e0 + e1 + e2
    b0, b1, b2 = e0 / total, e1 / total, e2 / total
    for c in range(out.shape[0]):
        out[c] = b0 * attributes[i, c] + b1 * attributes[j, c] + b2 * attributes[k, c]
    return total < 0.0  # the axes (column, row, depth) are right-handed, and normals point back


@kernel()
def _texel(decals, n, c, x, y):
    """Channel `c` of decal `n` at column x and row y, texels, between its neighbours."""
    i, j = int(x), int(y)
    upper = decals[n, j, i, c] + (x - i) * (decals[n, j, i + 1, c] - decals[n, j, i, c])
    j += 1
    lower = decals[n, j, i, c] + (x - i) * (decals[n, j, i + 1, c] - decals[n, j, i, c])
    return upper + (y - (j - 1)) * (lower - upper)


@kernel()
def _paint(at, cloth, row, materials, decals):
    """Put the garment's colour, or the decal's, over the reflectance in `at`."""
    n = int(materials[row, 8])
    if cloth:
        for c in range(3):
            at[6 + c] = materials[row, 5 + c]
    elif n >= 0 and 0.0 <= at[11] < 1.0 and 0.0 <= at[12] < 1.0:
        x, y = at[11] * (decals.shape[2] - 1), at[12] * (decals.shape[1] - 1)
        opacity = _texel(decals, n, 3, x, y)
        if opacity > 0.0:
            for c in range(3):
                at[6 + c] += opacity * (_texel(decals, n, c, x, y) - at[6 + c])


@kernel()
def _picture(at, more, texel, curve, frame):
    """Put a texel's colour, normal and roughness in the place of the surface's own."""
    for c in range(3):
        x = texel[c]
        i = min(int(x), 254)
        at[6 + c] = curve[i] + (x - i) * (curve[i + 1] - curve[i])
    more[0] = texel[6] / 255.0
    x, y = texel[4] / 127.5 - 1.0, texel[5] / 127.5 - 1.0
    if x * x + y * y > 2e-4:
        z = math.sqrt(max(1.0 - x * x - y * y, 0.05))
        for c in range(3):
            at[3 + c] = z * at[3 + c] + x * frame[c] + y * frame[3 + c]
        length = math.sqrt(at[3] * at[3] + at[4] * at[4] + at[5] * at[5])
        for c in range(3):
            at[3 + c] /= max(length, 1e-9)


@kernel()
def _strand_shine(lx, ly, lz, vx, vy, vz, frame, at):
    """Light that strands along the frame's second axis throw towards the eye: two cones."""
    hx, hy, hz = lx + vx, ly + vy, lz + vz
    scale = 1.0 / max(math.sqrt(hx * hx + hy * hy + hz * hz), 1e-6)
    # tilt the strand a little, as the scales of hair do
    tx, ty, tz = frame[3] + 0.12 * at[3], frame[4] + 0.12 * at[4], frame[5] + 0.12 * at[5]
    length = max(math.sqrt(tx * tx + ty * ty + tz * tz), 1e-6)
    th = (tx * hx + ty * hy + tz * hz) * scale / length
    wide = max(1.0 - th * th, 0.0)
    return 0.05 * wide**40 + 0.05 * wide**12


@kernel()
def _light(at, cloth, row, materials, lights, surround, eye, more, frame, colour):
    """Light that leaves the surface point `at` towards the eye, into `colour`.

    `more`: roughness (negative for the material's own), and the smooth normal.
    """
    m = 0 if cloth else row
    specular, roughness = materials[m, 0], materials[m, 1]
    response = materials[m, 9]
    under = 0.0
    if more[0] >= 0.0:
        roughness = max(more[0], 0.05)
    if response == 1.0:
        under = 1.0 if more[0] < 0.0 else min(max((0.84 - roughness) / 0.06, 0.0), 1.0)
    nx, ny, nz = at[3], at[4], at[5]
    vx, vy, vz = eye[0] - at[0], eye[1] - at[1], eye[2] - at[2]
    scale = 1.0 / math.sqrt(vx * vx + vy * vy + vz * vz)
    vx, vy, vz = vx * scale, vy * scale, vz * scale
    nv = max(nx * vx + ny * vy + nz * vz, 0.02)
    open_sky = at[13]
    gloss = 1.0 if cloth else at[10]
    for c in range(3):
        albedo = at[6 + c]
        # light between close surfaces takes their colour, so creases stay warm
        bounced = open_sky / (1.0 - 0.75 * albedo * (1.0 - open_sky))
        up = 0.5 + 0.5 * ny
        colour[c] = albedo * bounced * (surround[0, c] * up + surround[1, c] * (1.0 - up))
    for n in range(3):
        lx, ly, lz = lights[n, 0], lights[n, 1], lights[n, 2]
        nl = nx * lx + ny * ly + nz * lz
        smooth = more[1] * lx + more[2] * ly + more[3] * lz
        seen = open_sky if n == 1 else at[14 + n // 2]
        # past the terminator the shadow is the body's own: the wrap, not the map, fades it
        own = min(max(nl / 0.3, 0.0), 1.0)
        seen = own * seen + (1.0 - own) * min(open_sky * open_sky * 1.2, 1.0)
        hx, hy, hz = lx + vx, ly + vy, lz + vz
        scale = 1.0 / max(math.sqrt(hx * hx + hy * hy + hz * hz), 1e-6)
        nh = max((nx * hx + ny * hy + nz * hz) * scale, 0.0)
        lh = (lx * hx + ly * hy + lz * hz) * scale
        if response == 2.0:
            strand = _strand_shine(lx, ly, lz, vx, vy, vz, frame, at) * min(max(nl + 0.3, 0.0), 1.0)
            # short hair, which is rough, has no common direction to shine along
            shine = gloss * seen * strand * min(max(1.9 * (1.0 - roughness), 0.0), 1.0)
        else:
            shine = gloss * seen * _highlight(nl, nh, lh, specular, roughness)
        for c in range(3):
            albedo = at[6 + c]
            wrap = materials[m, 2 + c]
            lit, left = nl, seen
            if under > 0.0:
                # red is lit by the smooth normal, blue by that of the picture
                lit += under * (0.75 - 0.28 * c) * (smooth - nl)
                left += under * (0.30 - 0.13 * c) * seen * (1.0 - seen)
            diffuse = max((lit + wrap) / (1.0 + wrap), 0.0) / (1.0 + 0.5 * wrap)
            glint = shine * (0.35 + 2.2 * albedo) if response == 2.0 else shine
            colour[c] += lights[n, 3 + c] * (albedo * diffuse * left + glint)
    # the bright room, mirrored at grazing angles
    if response == 2.0:
        return
    mirror = specular + (1.0 - roughness) * (1.0 - specular) * (1.0 - nv) ** 5
    mirror *= gloss * open_sky
    up = 0.5 + 0.5 * (2.0 * nv * ny - vy)
    for c in range(3):
        colour[c] += mirror * (surround[0, c] * up + surround[1, c] * (1.0 - up))


@kernel()
def shade(
    seen, first_row, corners, triangles, attributes, kinds, materials, decals, pictures, levels,
    frames, texels, table, curve, lights, surround, eye, exposure, samples, pixels,
):  # fmt: skip
    """Lay the shaded samples of one band over `pixels` (h w 3), display light; `seen` as drawn."""
    at = np.empty(attributes.shape[1])
    colour = np.empty(3)
    total = np.empty(3)
    texel = np.empty(7)
    more = np.empty(4)
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            hits = 0
            for c in range(3):
                total[c] = 0.0
            for s in range(samples * samples):
                y, x = row * samples + s // samples, column * samples + s % samples
                t = seen[y, x]
                if t < 0:
                    continue
                hits += 1
                i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                front = interpolate(corners, i, j, k, x + 0.5, first_row + y + 0.5, attributes, at)
                length = math.sqrt(at[3] * at[3] + at[4] * at[4] + at[5] * at[5])
                scale = (1.0 if front else -1.0) / max(length, 1e-9)
                for c in range(3):
                    at[3 + c] *= scale
                    more[1 + c] = at[3 + c]
                more[0] = -1.0
                if pictures[t] >= 0:
                    texel_at(texels, table, pictures[t], levels[t], at[11], at[12], texel)
                    _picture(at, more, texel, curve, frames[t])
                else:
                    _paint(at, at[9] > 0.0, kinds[t], materials, decals)
                _light(
                    at, at[9] > 0.0, kinds[t], materials, lights, surround, eye, more, frames[t],
                    colour,
                )  # fmt: skip
                hem = 0.78 if 0.0 < at[9] < HEM else 1.0
                for c in range(3):
                    total[c] += _tone(exposure * hem * colour[c])
            if hits:
                share = 1.0 / (samples * samples)
                for c in range(3):
                    pixels[row, column, c] *= 1.0 - hits * share
                    pixels[row, column, c] += share * total[c]


@kernel()
def paint_backdrop(first_row, height, view, paper, vignette, grounds, grids, pixels):
    """Fill `pixels` (h w 3), one band, with the backdrop and the shadows on it, display light.

    `view` rows: eye, right, up, forward (the first two axes in units of a pixel); `paper` rows:
    top and bottom colour. `grounds` (n g g) is the light left on the ground, `grids` (n 4) its x₀,
    z₀, cell size and height.
    """
    width = pixels.shape[1]
    for row in range(pixels.shape[0]):
        y = (first_row + row + 0.5 - height / 2) / height
        blend = min(max(y + 0.5, 0.0), 1.0)
        blend = blend * blend * (3.0 - 2.0 * blend)
        for column in range(width):
            x = (column + 0.5 - width / 2) / height
            dark = 1.0 - vignette * min(
                (x * x + y * y) / (0.25 + 0.25 * (width / height) ** 2), 1.0
            )
            down = view[3, 1] + x * height * view[1, 1] - y * height * view[2, 1]
            for n in range(grounds.shape[0]):
                if down >= -1e-9:
                    break
                t = (grids[n, 3] - view[0, 1]) / down
                if t <= 0.0:
                    continue
                dx = view[3, 0] + x * height * view[1, 0] - y * height * view[2, 0]
                dz = view[3, 2] + x * height * view[1, 2] - y * height * view[2, 2]
                u = (view[0, 0] + t * dx - grids[n, 0]) / grids[n, 2]
                v = (view[0, 2] + t * dz - grids[n, 1]) / grids[n, 2]
                i, j = math.floor(u), math.floor(v)
                if 0 <= i < grounds.shape[2] - 1 and 0 <= j < grounds.shape[1] - 1:
                    fu, fv = u - i, v - j
                    upper = grounds[n, j, i] * (1.0 - fu) + grounds[n, j, i + 1] * fu
                    lower = grounds[n, j + 1, i] * (1.0 - fu) + grounds[n, j + 1, i + 1] * fu
                    dark *= upper * (1.0 - fv) + lower * fv
            for c in range(3):
                pixels[row, column, c] = dark * (paper[0, c] * (1.0 - blend) + paper[1, c] * blend)


@kernel()
def encode(pixels, first_row, curve, out):
    """Display light to 8 bits through the sRGB `curve` (a table), dithered so gradients are smooth.

    The dither is Jimenez's interleaved gradient noise (2014), within half a level.
    """
    last = curve.shape[0] - 1
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            noise = 0.06711056 * column + 0.00583715 * (first_row + row)
            noise = 52.9829189 * (noise - math.floor(noise))
            noise = noise - math.floor(noise)
            for c in range(3):
                x = min(max(pixels[row, column, c], 0.0), 1.0) * last
                i = min(int(x), last - 1)
                level = curve[i] + (x - i) * (curve[i + 1] - curve[i])
                out[row, column, c] = int(min(255.0 * level + noise, 255.0))
