/**
 * `npx tsx test/bench/dashboard.ts [requests per second] [seconds]`: how smooth the dashboard's live requests stay in a flood. Standin, the
 * load and the browser are separate processes. It reads /proc, so it needs Linux, a build and Chromium.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright-core'

const rate = Number(process.argv[2] ?? 1000)
const seconds = Number(process.argv[3] ?? 10)
const CONNECTIONS = 16

const cli = path.join(import.meta.dirname, '../../dist/cli.js')
const autocannon = createRequire(import.meta.url).resolve('autocannon')

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find(existsSync)
if (!executablePath) throw new Error('There is no Chromium in /usr/bin.')

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Resident memory of a process. */
const residentBytes = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

async function startStandin() {
  const child = spawn(process.execPath, [cli, 'dev', '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)
  const [line] = (await once(lines, 'line')) as [string]
  lines.on('line', () => {})
  return { child, ...(JSON.parse(line) as { url: string; dashboardUrl: string; apiKey: string }) }
}

/** Sends the load; returns how many requests were answered. */
async function flood(url: string, apiKey: string): Promise<number> {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is your refund policy, please?' }] }
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const flags = [
    ...['-j', '-c', CONNECTIONS, '-R', rate, '-d', seconds, '-m', 'POST', '-b', JSON.stringify(body)],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
  ].map(String)
  const child = spawn(process.execPath, [autocannon, ...flags, `${url}/v1/chat/completions`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  await once(child, 'close')
  return (JSON.parse(said) as { '2xx': number })['2xx']
}

interface Watched {
  readonly gapsMs: readonly number[]
  readonly longTasksMs: readonly number[]
}

/** Records the time between frames, and the tasks that kept the page from drawing. */
const watch = (page: Page) =>
  page.evaluate(`
    globalThis.watched = { gapsMs: [], longTasksMs: [] }
    new PerformanceObserver(list => watched.longTasksMs.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })
    let last = performance.now()
    const frame = now => { watched.gapsMs.push(now - last); last = now; requestAnimationFrame(frame) }
    requestAnimationFrame(frame)
  `)

async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

const percentile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

const { child, url, dashboardUrl, apiKey } = await startStandin()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage()
await page.goto(`${dashboardUrl}/requests`)
await page.getByText('No requests yet').waitFor()
await watch(page)
const before = { rss: residentBytes(child.pid), heap: await heapBytes(page) }
const answered = await flood(url, apiKey)
const { gapsMs, longTasksMs } = await page.evaluate<Watched>('watched')
await page.waitForTimeout(2000)
const after = { rss: residentBytes(child.pid), heap: await heapBytes(page) }
const elements = await page.evaluate<number>("document.querySelectorAll('*').length")
console.log(`
answered            ${answered} in ${seconds} s
frames              half within ${percentile(gapsMs, 0.5).toFixed(1)} ms, 99 in 100 within ${percentile(gapsMs, 0.99).toFixed(1)} ms, the longest ${Math.max(...gapsMs).toFixed(1)} ms
tasks over 50 ms    ${longTasksMs.length}${longTasksMs.length > 0 ? `, the longest ${Math.max(...longTasksMs).toFixed(0)} ms` : ''}
elements            ${elements}
heap of the page    ${megabytes(before.heap)} before, ${megabytes(after.heap)} after
memory of Standin   ${megabytes(before.rss)} before, ${megabytes(after.rss)} after
the page says       ${await page.locator('.list-state p').innerText()} ${await page.locator('.chart .unseen').first().textContent()}`)
await browser.close()
child.kill()
