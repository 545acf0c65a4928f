/** Builds dist/: few files, with what every start needs inside them, since finding and reading many small ones takes most of a start. */
import { defineConfig } from 'rolldown'

/** Loaded from node_modules when first needed. Everything else goes into the bundle. */
const loadedLater = /^(express|http-proxy-middleware|chokidar|@faker-js\/faker|@valibot\/to-json-schema)(\/|$)/

export default defineConfig({
  input: { cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  external: loadedLater,
  output: { dir: 'dist', format: 'esm', cleanDir: true, chunkFileNames: 'chunks/[name].js', minify: false },
})
