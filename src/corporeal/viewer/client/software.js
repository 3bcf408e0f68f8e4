// Whether pictures are drawn by the processor, as where there is no graphics card: then every pixel
// and every triangle costs time that the flesh needs, too.

const NAMES = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return NAMES.test(String(name));
}
