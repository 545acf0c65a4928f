import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { version } from '../src/version.js'
import { folderWith } from './command.js'

test('the version that the command tells is that of the package', () => {
  expect(version).toBe(manifest.version)
})

/** The built entry alone, with nothing beside it that it could import, on a Node that says it is of this version. */
function entryOn(node: string) {
  const dir = folderWith({ 'package.json': '{ "type": "module" }' })
  copyFileSync('dist/cli.js', path.join(dir, 'cli.js'))
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
  const preload = `data:text/javascript,${encodeURIComponent(versions)}`
  return spawnSync(process.execPath, ['--import', preload, 'cli.js', '--version'], { cwd: dir, encoding: 'utf8' })
}

test.each(['18.20.8', '20.18.3', '16.0.0'])(
  'on Node %s the command says which Node it needs, and imports nothing',
  node => {
    const least = manifest.engines.node.replace('>=', '')
    expect(entryOn(node)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `Standin needs Node ${least} or newer, and this is Node ${node}. Install a newer one: https://nodejs.org.\n`,
    })
  },
)

test.each(['20.19.0', '22.0.0'])('on Node %s it goes on', node => {
  // To what is not there beside this copy of it.
  expect(entryOn(node).stderr).toContain('ERR_MODULE_NOT_FOUND')
})
