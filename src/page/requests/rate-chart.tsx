/** Two small charts of the last two minutes: requests per second, and their durations. */
import type { ComponentChildren } from 'preact'
import type { Tick } from '../../journal/operations.js'
import { count, counted, duration } from '../wording.js'
import { MOST_TICKS } from './use-live.js'

const HEIGHT = 40

/** Shows nothing if there was no request in that time. */
export function RateChart({ ticks }: { readonly ticks: Ticks }) {
  const latest = ticks.findLast(({ p50Ms }) => p50Ms !== null)
  if (!latest) return null
  return (
    <div class="charts">
      <Rates ticks={ticks} />
      <Durations ticks={ticks} latest={latest} />
    </div>
  )
}

type Ticks = readonly Tick[]

/** The position of a tick. */
const placesOf = (ticks: Ticks) => (index: number) => MOST_TICKS - ticks.length + index

/** Failures are dashed, so that not only their colour distinguishes them. */
function Rates({ ticks }: { readonly ticks: Ticks }) {
  const x = placesOf(ticks)
  const rates = ticks.map(tick => ({ all: perSecond(tick, tick.requests), failed: perSecond(tick, tick.errors) }))
  const most = Math.max(1, ...rates.map(({ all }) => all))
  const bar = (i: number, from: number, to: number) =>
    to === 0 ? '' : `M${x(i) + 0.5} ${yOf(from, most)}V${yOf(to, most)}`
  const asked = ticks.reduce((sum, { requests }) => sum + requests, 0)
  const failed = ticks.reduce((sum, { errors }) => sum + errors, 0)
  return (
    <Chart name="Requests" value={`${count(Math.round(rates.at(-1)?.all ?? 0))}/s`}>
      <path
        class="accent"
        stroke-width="3"
        d={rates.map(({ all, failed }, i) => (all > failed ? bar(i, failed, all) : '')).join('')}
      />
      <path
        class="danger"
        stroke-width="3"
        stroke-dasharray="2 1.5"
        d={rates.map(({ failed }, i) => bar(i, 0, failed)).join('')}
      />
      <span class="unseen">
        {counted(asked, 'request')} and {counted(failed, 'failure')} in the last two minutes, at most{' '}
        {count(Math.round(most))} a second.
      </span>
    </Chart>
  )
}

function Durations({ ticks, latest: { p50Ms, p95Ms } }: { readonly ticks: Ticks; readonly latest: Tick }) {
  const slowestMs = Math.max(1, ...ticks.map(({ p95Ms }) => p95Ms ?? 0))
  const line = (values: readonly (number | null)[]) => lineOf(values, placesOf(ticks), slowestMs)
  return (
    <Chart name="p50" value={duration(p50Ms ?? 0)} more={p95Ms !== null && `p95 ${duration(p95Ms)}`}>
      <path class="quiet" stroke-width="1.5" stroke-dasharray="3 2" d={line(ticks.map(({ p95Ms }) => p95Ms))} />
      <path class="accent" stroke-width="2" stroke-linejoin="round" d={line(ticks.map(({ p50Ms }) => p50Ms))} />
      <span class="unseen">At most {duration(slowestMs)} in the last two minutes.</span>
    </Chart>
  )
}

interface ChartProps {
  readonly name: string
  readonly value: string
  readonly more?: string | false
  /** The drawing, and last its description for screen readers. */
  readonly children: readonly ComponentChildren[]
}

const Chart = ({ name, value, more, children }: ChartProps) => (
  <figure class="chart">
    <figcaption class="cut quiet small">
      {name} <strong class="ink">{value}</strong>
      {more && <div>{more}</div>}
      {children.at(-1)}
    </figcaption>
    <svg class="plot" viewBox={`0 0 ${MOST_TICKS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {children.slice(0, -1)}
    </svg>
  </figure>
)

const perSecond = ({ overMs }: Tick, many: number) => (many / Math.max(overMs, 1)) * 1000

/** Values above zero are always visible. */
const yOf = (value: number, most: number) =>
  Number((HEIGHT - (value > 0 ? Math.max(1.5, (value / most) * (HEIGHT - 2)) : 0)).toFixed(1))

/** Seconds without requests leave a gap; a single second is drawn as a dash. */
function lineOf(values: readonly (number | null)[], x: (index: number) => number, most: number): string {
  return values
    .map((value, i) => {
      if (value === null) return ''
      const y = yOf(value, most)
      return values[i - 1] == null ? `M${x(i)} ${y}H${x(i) + 1}` : `L${x(i) + 1} ${y}`
    })
    .join('')
}
