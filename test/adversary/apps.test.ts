import { expect, test } from 'vitest'
import { forAll } from '../command.js'
import { adversary, apps, verdictsIn } from './apps.js'

const names = ['openai', 'AI SDK', 'fetch'] as const

/** The faults for each app, and the verdicts on the bugs that are seeded in it. */
const seeded = {
  openai: {
    faults: 'status-503,cut,end,done-double,length',
    found: { 'no-retry': ['status-503'], 'truncation-accepted': ['end', 'finish-length'] },
  },
  'AI SDK': {
    faults: 'status-503,malformed,end,length',
    found: { 'executed-twice': ['status-503'], 'truncation-accepted': ['end', 'finish-length', 'malformed'] },
  },
  fetch: {
    faults: 'status-429,outage,status-400,status-401,stall',
    found: {
      'connection-kept': ['stall'],
      'retried-hopeless': ['status-400', 'status-401'],
      'retry-after-ignored': ['status-429'],
      'retry-storm': ['outage'],
    },
  },
} as const

/** Most of the time the apps wait, so all of them run at once. */
const ends = forAll(async until => {
  const start = (name: (typeof names)[number], isMended: boolean) =>
    adversary(apps[name](isMended), {
      flags: [...(isMended ? [] : ['--json', '--quiet']), '--jobs', '1', '--faults', seeded[name].faults],
      until,
    })
  return new Map(names.map(name => [name, { buggy: start(name, false), mended: start(name, true) }]))
})

test.each(names)(
  'every bug that is seeded in the %s app is found, and nothing else',
  { timeout: 90_000 },
  async name => {
    const end = await (await ends()).get(name)?.buggy
    const bugs = verdictsIn(end).filter(({ isBug }) => isBug)
    const codes = [...new Set(bugs.map(({ code }) => code))]
    const faultsOf = (code: string) => new Set(bugs.filter(bug => bug.code === code).map(({ fault }) => fault))
    const faultsByCode = codes.map(code => [code, [...faultsOf(code)].sort()])
    expect(Object.fromEntries(faultsByCode)).toEqual(seeded[name].found)
    for (const { sentence, requests } of bugs) {
      expect(sentence).toMatch(/^[A-Z].*\.$/)
      expect(requests.length).toBeGreaterThan(0)
    }
    expect(end?.code).toBe(1)
  },
)

test.each(names)('the mended %s app is clean', { timeout: 90_000 }, async name => {
  const end = await (await ends()).get(name)?.mended
  expect(end).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[5-9] runs with a fault: (?!.* bug)/m) })
})
