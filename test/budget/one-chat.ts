/** Prints the source files that one warm chat request runs through, with the names of their functions. */
import { Session } from 'node:inspector/promises'
import { startPlatform } from '../../src/index.js'

const platform = await startPlatform({ rules: [{ when: { user: 'needle' }, reply: { text: 'Found it.' } }] })
const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'a needle here' }] })
const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
const ask = async () => (await fetch(`${platform.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
for (let i = 0; i < 5; i++) await ask()

const session = new Session()
session.connect()
await session.post('Profiler.enable')

/** What ran for one request, by file. */
async function ran(): Promise<ReadonlyMap<string, readonly string[]>> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  await session.post('Profiler.takePreciseCoverage')
  await ask()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => url.includes('/src/') && !url.includes('node_modules'))
  const counts = own.map(
    ({ url, functions }) =>
      [
        url.replace(/.*\/src\/|\?.*/g, ''),
        // `__name` is a helper that tsx adds.
        functions
          .filter(({ functionName, ranges: [whole] }) => functionName !== '__name' && (whole?.count ?? 0) > 0)
          .map(({ functionName }) => functionName || '=>'),
      ] as const,
  )
  return new Map(counts.filter(([, names]) => names.length > 0))
}

// Periodic work, such as saving when keys were used, does not belong to a request, so the smallest of several counts is taken.
const all = [await ran(), await ran(), await ran(), await ran(), await ran()]
const functionsOf = (files: ReadonlyMap<string, readonly string[]>) => [...files.values()].flat().length
const [files = new Map<string, readonly string[]>()] = all.toSorted((a, b) => functionsOf(a) - functionsOf(b))
console.log(JSON.stringify(Object.fromEntries(files)))
await platform.stop()
process.exit(0)
