/** Builds dist/ as bundles, as `npm run build` does by running this file, and dev.js whenever the source changes: finding and reading many small files would take most of a start. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type OutputBundle, type Plugin } from 'rolldown'

/** Loaded from node_modules when first needed. Everything else goes into the bundle. */
const loadedLater =
  /^(@electric-sql\/pglite|express|http-proxy-middleware|@faker-js\/faker|@valibot\/to-json-schema|undici|vitest|@playwright\/test)(\/|$)/

const chunksOf = (bundle: OutputBundle) => Object.values(bundle).filter(part => part.type === 'chunk')

/** Collects the licences of bundled packages in a licenses.txt beside the code. */
const licenses: Plugin = {
  name: 'licenses',
  generateBundle(_options, bundle) {
    const modules = chunksOf(bundle).flatMap(({ moduleIds }) => moduleIds)
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

/** Escapes all characters beyond ASCII: with a single one, a file takes twice the memory, and longer to be read. */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const chunk of chunksOf(bundle))
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
  },
}

/** The platform's OpenAPI document, which is served and part of the package. */
const openApi: Plugin = {
  name: 'openapi',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'openapi.yaml', source: readFileSync('src/contract/openapi.yaml') })
  },
}

const pageFolder = 'src/dashboard/page'

/** The page's style sheet, and its HTML with the final names of the script and the style sheet. */
const html: Plugin = {
  name: 'html',
  generateBundle(_options, bundle) {
    const folder = path.join(pageFolder, 'styles')
    const sheets = readdirSync(folder)
      .sort()
      .map(name => readFileSync(path.join(folder, name), 'utf8'))
    // No comments, no indentation; compression does the rest.
    const source = sheets.join('').replace(/\/\*.*?\*\/|^\s+|\n/gms, '')
    const sheet = this.getFileName(this.emitFile({ type: 'asset', name: 'page.css', source }))
    const chunks = chunksOf(bundle)
    const main = chunks.find(({ isEntry }) => isEntry)
    // Views load when they are opened, and Supabase's client when someone signs in.
    const soon = chunks.filter(({ fileName }) => main?.imports.includes(fileName))
    const preloads = soon.map(({ fileName }) => `<link rel="modulepreload" href="/dashboard/${fileName}" />`)
    const text = readFileSync(path.join(pageFolder, 'index.html'), 'utf8')
      .replace('page.css', `/dashboard/${sheet}`)
      .replace('main.js', `/dashboard/${main?.fileName}`)
      .replace('</head>', `${preloads.join('')}</head>`)
    this.emitFile({ type: 'asset', fileName: 'index.html', source: text })
  },
}

/** The dashboard's page is for browsers, so it is a separate build, whose output goes into dist/dashboard. */
const page: Plugin = {
  name: 'page',
  async generateBundle() {
    const { output } = await build({
      input: `${pageFolder}/main.tsx`,
      platform: 'browser',
      tsconfig: `${pageFolder}/tsconfig.json`,
      plugins: [html, licenses],
      // Browsers do not have Node's modules: the page would not load.
      onLog(level, log, report) {
        if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
        report(level, log)
      },
      // Of files that the server uses too, only what the page needs: none does anything by itself.
      treeshake: { moduleSideEffects: false },
      write: false,
      output: {
        format: 'esm',
        minify: true,
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        codeSplitting: {
          groups: [
            // What several views use loads with the page.
            { name: 'shared', test: /[\\/]page[\\/](widgets|session)[\\/]|node_modules[\\/]preact/ },
          ],
        },
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    })
    for (const file of output) {
      const source = file.type === 'chunk' ? file.code : file.source
      const fileName = `dashboard/${file.fileName}`
      this.emitFile({ type: 'asset', fileName, source })
      // Sent as it is, so that the server compresses nothing itself.
      if (/\.(?:js|css|html)$/.test(fileName))
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) })
    }
  },
}

const config = {
  input: {
    cli: 'src/cli.ts',
    index: 'src/index.ts',
    vitest: 'src/vitest.ts',
    jest: 'src/jest.ts',
    playwright: 'src/playwright.ts',
    'test-runner': 'src/test-runner.ts',
    'pglite-worker': 'src/tables/pglite-worker.ts',
  },
  platform: 'node',
  external: loadedLater,
  // The ES module builds, which are bundled without a wrapper around each module and start sooner.
  resolve: {
    alias: {
      'yaml/util': path.resolve('node_modules/yaml/browser/dist/util.js'),
      yaml: path.resolve('node_modules/yaml/browser/index.js'),
      'jsonc-parser': path.resolve('node_modules/jsonc-parser/lib/esm/main.js'),
      // Also, this build cannot read files, which replies must not do.
      liquidjs: path.resolve('node_modules/liquidjs/dist/liquid.browser.mjs'),
    },
  },
  plugins: [ascii, licenses, openApi, page],
  // One place may load a module later that another imports at the start.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist',
    format: 'esm',
    // Comments would be read at every start; lines and names stay as they are, for stack traces.
    comments: false,
    minifyInternalExports: false,
    chunkFileNames: 'chunks/[name].js',
    // What a platform needs is one file, with everything that it imports statically: finding and opening many takes longer. The rest
    // is split where it is loaded later.
    codeSplitting: { groups: [{ name: 'start', test: /src[\\/]cli[\\/](main|dev)\.ts$/ }] },
  },
} satisfies BuildOptions

export default config

// Rolldown's own command lists the size of each of the 130 files, and cannot be told not to.
// A rebuild while developing leaves what else is in the folder.
if (process.argv[1] === import.meta.filename) await build({ ...config, output: { ...config.output, cleanDir: true } })
