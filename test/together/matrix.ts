/** What goes with what: each cell works, or is refused with a sentence. The tests try all of it, and docs/testing.md shows it. */
import type { runners } from './runners.js'

export const modes = ['emulate', 'record', 'replay', 'adversary'] as const

type MatrixMode = (typeof modes)[number]

/** What a cell says besides yes or no. */
const notes = {
  ofEachFile:
    'Each file counts for itself, which is said once: no receipt for all, no `--strict`, no budget of the run.',
  ofEachWorker: 'The same for each worker.',
  needsExec:
    'Refused: “The flag --adversary belongs to standin exec.” For one fault in one test: `failNext` and `toHaveHandled`.',
} as const

type Note = keyof typeof notes

type Cell = 'works' | { readonly works: Note } | { readonly refused: Note }

export interface Row {
  readonly runner: keyof typeof runners
  readonly isBelowExec: boolean
  /** How the tests get their mode. */
  readonly command: string
  readonly cells: Readonly<Record<MatrixMode, Cell>>
  /** What several workers share. */
  readonly workers: string
  /** How tests that run at the same time are told apart. */
  readonly scopes: string
}

const alone = (note: Note): Row['cells'] => ({
  emulate: 'works',
  record: { works: note },
  replay: { works: note },
  adversary: { refused: 'needsExec' },
})

const everything: Row['cells'] = { emulate: 'works', record: 'works', replay: 'works', adversary: 'works' }

/** A runner whose tests have a server in each file. */
const perFile = (runner: Row['runner'], command: string): readonly Row[] => {
  const common = { runner, scopes: 'each test by itself; at the same time, `platform.scope(name)`' }
  return [
    {
      ...common,
      isBelowExec: false,
      command: `STANDIN_MODE=record ${command}`,
      cells: alone('ofEachFile'),
      workers: 'the recordings',
    },
    {
      ...common,
      isBelowExec: true,
      command: `standin exec --mode record -- ${command}`,
      cells: everything,
      workers: 'the run: each file has a server of its own and reports to it',
    },
  ]
}

export const table: readonly Row[] = [
  ...perFile('vitest', 'npx vitest run'),
  ...perFile('jest', 'npx jest'),
  ...perFile('node:test', 'node --test'),
  {
    runner: 'Playwright',
    isBelowExec: false,
    command: 'STANDIN_MODE=record npx playwright test',
    cells: alone('ofEachWorker'),
    workers: 'the recordings',
    scopes: 'each test by its user, key or `baggage`',
  },
  {
    runner: 'Playwright',
    isBelowExec: true,
    command: 'standin exec --mode record -- npx playwright test',
    cells: everything,
    workers: 'the server of `exec`; with `standinOptions`, a server each',
    scopes: 'each test by its user, key or `baggage`',
  },
  {
    runner: 'HTTP',
    isBelowExec: false,
    command: 'standin --mode record',
    cells: { ...everything, adversary: { refused: 'needsExec' } },
    workers: 'the server',
    scopes: 'the header `x-standin-scope`; without it, the run as a whole',
  },
  {
    runner: 'HTTP',
    isBelowExec: true,
    command: 'standin exec --mode record -- COMMAND',
    cells: everything,
    workers: 'the server of `exec`',
    scopes: 'the header `x-standin-scope`; without it, the run as a whole',
  },
]

export const isRefused = (cell: Cell): boolean => typeof cell === 'object' && 'refused' in cell

/** For docs/testing.md. */
export function matrixText(): string {
  const numbers = new Map(Object.keys(notes).map((name, i) => [name, i + 1]))
  const inWords = (cell: Cell) => {
    if (cell === 'works') return 'yes'
    return 'refused' in cell ? `no (${numbers.get(cell.refused)})` : `yes (${numbers.get(cell.works)})`
  }
  const named = table.map(({ runner, command, cells, workers, scopes }) => ({
    ...{ runner: runner === 'HTTP' ? 'anything, over HTTP' : runner, command },
    rest: [...modes.map(mode => inWords(cells[mode])), workers, scopes].join(' | '),
  }))
  // Runners of which all is the same share a row.
  const rows = [...Map.groupBy(named, ({ rest }) => rest)].map(([rest, alike]) => [
    `${alike.map(({ runner }) => runner).join(', ')}: \`${alike[0]?.command}\``,
    rest,
  ])
  const head = ['tests', ...modes, 'workers share', 'whose request it is']
  const lines = [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`)
  return [...lines, '', ...Object.values(notes).map((note, i) => `${i + 1}. ${note}`)].join('\n')
}
