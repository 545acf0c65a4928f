import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'

/** What `npm run dev` says on standard error; `until` ends it as soon as that has come. */
function dev(args: readonly string[], until?: string) {
  const child = spawn(process.execPath, ['dev.js', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    said += text
    if (until !== undefined && said.includes(until)) child.kill('SIGTERM')
  })
  return new Promise<{ code: number | null; said: string }>(resolve => {
    child.once('close', code => resolve({ code, said }))
  })
}

test('npm run dev ends after a wrong flag, with the sentence about it', async () => {
  expect(await dev(['--prot', '1'])).toEqual({
    code: 2,
    said: 'The flag --prot is not known. Did you mean "--port"? See standin dev --help.\n',
  })
})

test('npm run dev that cannot start says that it waits for a change', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { said } = await dev(['--port', String(port), '--state', 'memory'], 'after a change in src/')
  expect(said).toContain(`Port ${port} is already in use.`)
})
