/** How an answer went out over time: first byte, pieces and end. */
import type { EntryJson } from '../../journal-wire.js'
import { counted, duration, size } from './wording.js'

const WIDTH = 1000
const HEIGHT = 40

export function TimingView({ entry }: { readonly entry: EntryJson }) {
  const { firstByteMs, durationMs, request, response } = entry
  const { piecesAtMs } = response
  const facts = [
    ['First byte', firstByteMs === null ? 'none' : duration(firstByteMs)],
    ['In all', duration(durationMs)],
    ['Asked', size(request.bytes)],
    ['Answered', size(response.bytes)],
    ...(piecesAtMs.length > 0 ? [['Pieces', piecesInWords(piecesAtMs)] as const] : []),
  ] as const
  return (
    <section aria-labelledby="timing">
      <h3 id="timing">Time and size</h3>
      <dl class="pairs pairs-short">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {piecesAtMs.length > 1 && <PieceChart firstByteMs={firstByteMs ?? 0} durationMs={durationMs} at={piecesAtMs} />}
    </section>
  )
}

/** The times of the first thousand are kept. */
const MOST_TIMES = 1000

function piecesInWords(at: readonly number[]): string {
  const pauses = at.slice(1).map((ms, i) => ms - (at[i] ?? 0))
  const longest = pauses.reduce((most, ms) => Math.max(most, ms), 0)
  const many = at.length < MOST_TIMES ? counted(at.length, 'piece') : 'the first 1,000 are timed'
  return at.length < 2 ? many : `${many}, the longest pause ${duration(longest)}`
}

interface ChartProps {
  readonly firstByteMs: number
  readonly durationMs: number
  readonly at: readonly number[]
}

/** Climbs a step with each piece: a straight line is an even stream, a flat stretch is a pause. */
function PieceChart({ firstByteMs, durationMs, at }: ChartProps) {
  const x = (ms: number) => Math.round(Math.min(1, (firstByteMs + ms) / Math.max(durationMs, 1)) * WIDTH)
  const y = (nth: number) => Number((HEIGHT - (nth / at.length) * (HEIGHT - 2)).toFixed(1))
  const steps = at.map((ms, i) => `H${x(ms)}V${y(i + 1)}`).join('')
  return (
    <div class="plot" aria-hidden="true">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="bar-first" d={`M${x(0)} 0V${HEIGHT}`} />
        <path class="chart-line" d={`M${x(0)} ${HEIGHT}${steps}`} />
      </svg>
      <span class="plot-top">pieces</span>
      <span class="plot-from">0</span>
      <span class="plot-to">{duration(durationMs)}</span>
    </div>
  )
}
