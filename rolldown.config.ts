/** Builds dist/: few files, with what every start needs inside them, since finding and reading many small ones takes most of a start. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'

/** Loaded from node_modules when first needed. Everything else goes into the bundle. */
const loadedLater = /^(express|http-proxy-middleware|@faker-js\/faker|@valibot\/to-json-schema)(\/|$)/

/** What is bundled keeps its licence: the texts are put together in dist/licenses.txt. */
const licenses: Plugin = {
  name: 'licenses',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap(part => (part.type === 'chunk' ? part.moduleIds : []))
    const folders = new Set(modules.flatMap(id => id.match(/^.*node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/)?.[0] ?? []))
    const texts = [...folders].sort().map(folder => {
      const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find(file => /^licen[cs]e/i.test(file))
      const text = file ? readFileSync(path.join(folder, file), 'utf8') : ''
      return `${name} ${version} (${license})\n\n${text.trim()}\n`
    })
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
  },
}

export default defineConfig({
  input: { cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  external: loadedLater,
  // The same code as ES modules, which can be put together without a wrapper around each; it starts sooner.
  resolve: { alias: { yaml: path.resolve('node_modules/yaml/browser/index.js') } },
  plugins: [licenses],
  output: { dir: 'dist', format: 'esm', cleanDir: true, chunkFileNames: 'chunks/[name].js' },
})
