import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { version } from '../src/version.js'
import { folderWith } from './command.js'

test('the version of the command is that of the package', () => {
  expect(version).toBe(manifest.version)
})

/** The built entry point alone, with nothing beside it to import, on a Node that claims to be this version. */
function entryOn(node: string) {
  const dir = folderWith({ 'package.json': '{ "type": "module" }' })
  copyFileSync('dist/cli.js', path.join(dir, 'cli.js'))
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
  const preload = `data:text/javascript,${encodeURIComponent(versions)}`
  return spawnSync(process.execPath, ['--import', preload, 'cli.js', '--version'], { cwd: dir, encoding: 'utf8' })
}

test.each(['16.0.0', '20.20.2', '22.14.0', '23.11.1'])(
  'on Node %s the command says which Node it needs, and imports nothing',
  node => {
    expect(manifest.engines.node).toBe('^22.15 || >=24')
    expect(entryOn(node)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `Standin needs Node 22.15, 24 or newer, and this is Node ${node}. Install a newer one: https://nodejs.org.\n`,
    })
  },
)

test.each(['22.15.0', '24.0.0', '26.1.0'])('on Node %s the command goes on', node => {
  // It fails on its imports, which are missing beside this copy.
  expect(entryOn(node).stderr).toContain('ERR_MODULE_NOT_FOUND')
})
