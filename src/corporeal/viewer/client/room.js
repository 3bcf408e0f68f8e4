// The room that bodies stand in: light, floor, fog.

import { Color, DirectionalLight, Fog, Group, HemisphereLight, Mesh, PlaneGeometry, ShaderMaterial, ShadowMaterial } from "./vendor/three.js";

const FLOOR = `
  varying vec2 where;
  uniform vec3 ink;
  float lines(vec2 p, float every, float width) {
    vec2 near = abs(fract(p / every - 0.5) - 0.5) * every;
    vec2 soft = fwidth(p);
    vec2 on = 1.0 - smoothstep(vec2(width), vec2(width) + soft, near);
    return max(on.x, on.y);
  }
  void main() {
    float far = 1.0 - smoothstep(1.2, 6.5, length(where));
    float grid = max(0.28 * lines(where, 0.25, 0.0012), 0.75 * lines(where, 1.0, 0.003));
    gl_FragColor = vec4(ink, (0.10 + 0.5 * grid) * far * far);
  }`;

export function makeRoom(scene) {
  scene.fog = new Fog(new Color(0x17191d), 9, 22);
  scene.add(new HemisphereLight(0xdfe8f5, 0x5a4a40, 1.15));
  const key = new DirectionalLight(0xfff1e2, 2.6);
  key.position.set(-1.7, 3.4, 2.4);
  key.castShadow = true;
  key.shadow.mapSize.set(1024, 1024);
  Object.assign(key.shadow.camera, { left: -1.6, right: 1.6, top: 1.9, bottom: -1.6, near: 0.5, far: 9 });
  key.shadow.bias = -0.0004;
  key.shadow.normalBias = 0.016;
  key.shadow.radius = 3;
  const fill = new DirectionalLight(0xcfdcf5, 0.5);
  fill.position.set(2.4, 1.2, 1.8);
  const rim = new DirectionalLight(0xdbe8ff, 1.9);
  rim.position.set(2.0, 2.2, -2.6);
  const lights = new Group();
  lights.add(key, key.target, fill, fill.target, rim, rim.target);
  scene.add(lights);

  const ground = new Group();
  const grid = new Mesh(new PlaneGeometry(16, 16), new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { ink: { value: new Color(0x9aa6b8) } },
    vertexShader: "varying vec2 where; void main() { where = (modelMatrix * vec4(position, 1.0)).xz; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: FLOOR,
  }));
  const shadow = new Mesh(new PlaneGeometry(16, 16), new ShadowMaterial({ opacity: 0.5, color: 0x000000 }));
  grid.rotation.x = shadow.rotation.x = -Math.PI / 2;
  grid.position.y = -0.002;
  shadow.receiveShadow = true;
  ground.add(grid, shadow);
  scene.add(ground);
  return { lights, ground };
}
