/** When the storage of the state is unavailable, full or damaged, requests get a plain 503, and the log says so once. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { freshFolder, server } from '../state/kinds.js'

/** A platform with its state in this place, and what it logs and reports. */
async function platformAt(state: string) {
  const lines: string[] = []
  const reports: unknown[] = []
  const values = { port: 0, state }
  const flags = Object.entries(values).map(([name, value]) => ({ path: [name], value, origin: 'test' }))
  const platform = await openPlatform({
    ...{ cwd: freshFolder(), file: false, flags },
    warn: line => void lines.push(line),
    report: error => void reports.push(error),
  })
  onTestFinished(() => platform.stop())
  const ask = async (path: string, bearer: string, init: RequestInit = {}) => {
    const headers = { apikey: platform.anonKey, authorization: `Bearer ${bearer}` }
    const response = await fetch(platform.url + path, { ...init, headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const signIn = (password = 'developer') =>
    ask('/auth/v1/token?grant_type=password', platform.anonKey, {
      method: 'POST',
      body: JSON.stringify({ email: 'developer@example.com', password }),
    })
  return { platform, lines, reports, ask, signIn }
}

test.skipIf(!server)(
  'while PostgreSQL is down requests get a 503 that names the database, and the log has two lines',
  async () => {
    const url = new URL((await server?.freshDatabase()) ?? '')
    const { platform, lines, reports, ask, signIn } = await platformAt(String(url))
    const accessToken = String((await signIn()).body.access_token)
    const database = `"${url.pathname.slice(1)}" in PostgreSQL at ${url.host}`
    const error = `The database of the state (${database}) cannot be used at the moment. Try again later.`
    await server?.stop()
    for (const credential of [platform.apiKey, accessToken, 'sk-unknown']) {
      expect(await ask('/v1/models', credential)).toEqual({ status: 503, body: { error } })
    }
    expect(await signIn()).toEqual({
      status: 503,
      body: { code: 503, error_code: 'unexpected_failure', msg: error, error_id: expect.any(String) },
    })
    expect((await ask('/health', 'none')).status).toBe(200)
    expect(lines).toEqual([expect.stringContaining(`No PostgreSQL answers at ${url.host}.`)])
    await server?.start()
    await vi.waitFor(async () => expect((await ask('/v1/models', platform.apiKey)).status).toBe(200), {
      timeout: 20_000,
    })
    expect((await signIn()).status).toBe(200)
    expect(lines.slice(1)).toEqual(['The state can be used again.'])
    expect(reports).toEqual([])
    expect(JSON.stringify(lines)).not.toContain(url.password)
  },
)

/** A disk of this size, if root runs the test. */
function smallDisk(size: string): string | undefined {
  const folder = path.join(freshFolder(), 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

test('a full disk is reported as such, once, and everything works again when there is room', async ({ skip }) => {
  const folder = smallDisk('1m') ?? skip('Only root can make a small disk.')
  const { lines, reports, ask, signIn, platform } = await platformAt(`file:${folder}/state.db`)
  expect((await signIn()).status).toBe(200)
  const ballast = path.join(folder, 'ballast')
  for (const bytes of [4096, 1024, 64]) {
    try {
      for (;;) appendFileSync(ballast, 'x'.repeat(bytes))
    } catch {}
  }
  const failed = await vi.waitFor(
    async () => {
      const answer = await signIn()
      expect(answer.status).toBe(503)
      return answer
    },
    { timeout: 20_000 },
  )
  expect(failed.body).toMatchObject({
    error_code: 'unexpected_failure',
    msg: 'The state cannot be kept: it cannot be opened or written (database or disk is full). Allow it, make room on the disk, choose another file, or keep nothing with --state memory.',
  })
  await signIn()
  expect((await ask('/v1/models', platform.apiKey)).status).toBe(200)
  expect(lines).toEqual([
    `The state cannot be kept in ${folder}/state.db: it cannot be opened or written (database or disk is full). Allow it, make room on the disk, choose another file, or keep nothing with --state memory.`,
  ])
  rmSync(ballast)
  expect((await signIn()).status).toBe(200)
  expect(lines.slice(1)).toEqual(['The state can be used again.'])
  expect(reports).toEqual([])
})
