// What the studio's page uses of three.js; bundled by build.sh.
export {
  ACESFilmicToneMapping, AgXToneMapping, AmbientLight, BackSide, BufferAttribute, BufferGeometry, Clock, Color,
  CylinderGeometry, DataTexture, DirectionalLight, DoubleSide, DynamicDrawUsage, Fog, FrontSide,
  GridHelper, Group, HemisphereLight, InstancedMesh, LinearFilter, LinearMipmapLinearFilter, LineBasicMaterial, LineSegments,
  MathUtils, Matrix4, Mesh, MeshBasicMaterial, MeshPhysicalMaterial, MeshStandardMaterial, NeutralToneMapping,
  NoToneMapping, Object3D, PCFShadowMap, PerspectiveCamera, Plane, PlaneGeometry, Quaternion,
  Raycaster, RGBAFormat, Scene, ShaderMaterial, ShadowMaterial, Sphere, SphereGeometry,
  SRGBColorSpace, Texture, UnsignedByteType, Vector2, Vector3, Vector4, VSMShadowMap, WebGLRenderer,
  WireframeGeometry,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
