import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { version } from '../src/version.js'

test('the command, the lock file and the newest section of the changelog have the version of the package', () => {
  const [, newest] = readFileSync('CHANGELOG.md', 'utf8').match(/^## (\S+)/m) ?? []
  expect({ version, locked: lock.version, newest }).toEqual({
    version: manifest.version,
    locked: manifest.version,
    newest: manifest.version,
  })
})

test.each(['README.md', 'docs/getting-started.md'])(
  'the file that %s says to install is the one that npm pack writes',
  name => {
    expect(readFileSync(name, 'utf8').match(/standin-[\d.]+\.tgz/g)).toEqual(
      expect.arrayContaining([`standin-${version}.tgz`]),
    )
  },
)

/** Runs the built package on a Node that claims to be this version. */
function runOn(node: string, args: readonly string[]) {
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
  const preload = `data:text/javascript,${encodeURIComponent(versions)}`
  return spawnSync(process.execPath, ['--import', preload, ...args], { encoding: 'utf8' })
}

const importing = (entry: string) => `import('./dist/${entry}.js').catch(error => console.log(error.message))`

const sentence = (node: string) =>
  `Standin needs Node 22.15, 24 or newer, and this is Node ${node}. Install a newer one: https://nodejs.org.\n`

test.each(['16.0.0', '20.20.2', '22.14.0', '23.11.1'])('on Node %s the command says which Node it needs', node => {
  expect(manifest.engines.node).toBe('^22.15 || >=24')
  expect(runOn(node, ['dist/cli.js', '--version'])).toMatchObject({ status: 1, stdout: '', stderr: sentence(node) })
})

const entries = Object.values(manifest.exports).flatMap(entry =>
  typeof entry === 'object' ? [entry.default.replace(/^\.\/dist\/|\.js$/g, '')] : [],
)

test.each(entries)('on Node 20 %s, which a test imports, says the same before it loads anything else', entry => {
  expect(entries).toContain('playwright')
  expect(runOn('20.20.2', ['-e', importing(entry)])).toMatchObject({ stdout: sentence('20.20.2') })
})

test.each(['22.15.0', '24.0.0', '26.1.0'])('on Node %s the command goes on', node => {
  expect(runOn(node, ['dist/cli.js', '--version'])).toMatchObject({ status: 0, stdout: `${manifest.version}\n` })
})
