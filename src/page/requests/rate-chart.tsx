/** Requests per second and their durations over the last two minutes, as two small charts with the numbers in words. */
import type { ComponentChildren } from 'preact'
import type { Tick } from '../../journal/operations.js'
import { MOST_TICKS } from './use-live.js'
import { count, counted, duration } from './wording.js'

interface Props {
  readonly ticks: readonly Tick[]
}

const HEIGHT = 40

export function RateChart({ ticks }: Props) {
  const rates = ticks.map(tick => ({ all: perSecond(tick, tick.requests), failed: perSecond(tick, tick.errors) }))
  const mostRate = Math.max(1, ...rates.map(({ all }) => all))
  const slowestMs = Math.max(1, ...ticks.map(({ p95Ms }) => p95Ms ?? 0))
  const last = rates.at(-1)
  const latest = ticks.findLast(({ p50Ms }) => p50Ms !== null)
  const x = (index: number) => MOST_TICKS - ticks.length + index
  const bar = (i: number, from: number, to: number) =>
    to === 0 ? '' : `M${x(i) + 0.5} ${yOf(from, mostRate)}V${yOf(to, mostRate)}`
  const line = (values: readonly (number | null)[]) => lineOf(values, x, slowestMs)
  return (
    <div class="charts">
      <figure class="chart">
        <figcaption>
          <span class="chart-name">Requests a second</span>
          <strong>{count(Math.round(last?.all ?? 0))}</strong>
          <span class="chart-more chart-failed">
            {last !== undefined && last.failed > 0 && `${count(Math.ceil(last.failed))} refused or failed`}
          </span>
          <span class="unseen">{rateInWords(ticks, mostRate)}</span>
        </figcaption>
        <Plot top={count(Math.round(mostRate))}>
          <path
            class="chart-bars"
            d={rates.map(({ all, failed }, i) => (all > failed ? bar(i, failed, all) : '')).join('')}
          />
          <path class="chart-bars-failed" d={rates.map(({ failed }, i) => bar(i, 0, failed)).join('')} />
        </Plot>
      </figure>
      <figure class="chart">
        <figcaption>
          <span class="chart-name">Answered in</span>
          <strong>{latest?.p50Ms == null ? '–' : duration(latest.p50Ms)}</strong>
          <span class="chart-more">{latest?.p95Ms != null && `95 in 100 within ${duration(latest.p95Ms)}`}</span>
          <span class="unseen">
            {latest === undefined ? 'Nothing has been asked yet.' : `At most ${duration(slowestMs)}.`}
          </span>
        </figcaption>
        <Plot top={duration(slowestMs)}>
          <path class="chart-line chart-line-slow" d={line(ticks.map(({ p95Ms }) => p95Ms))} />
          <path class="chart-line" d={line(ticks.map(({ p50Ms }) => p50Ms))} />
        </Plot>
      </figure>
    </div>
  )
}

interface PlotProps {
  /** The label of the upper edge. */
  readonly top: string
  readonly children: ComponentChildren
}

const Plot = ({ top, children }: PlotProps) => (
  <div class="plot" aria-hidden="true">
    <svg viewBox={`0 0 ${MOST_TICKS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {children}
    </svg>
    <span class="plot-top">{top}</span>
    <span class="plot-from">2 min ago</span>
    <span class="plot-to">now</span>
  </div>
)

const perSecond = ({ overMs }: Tick, many: number) => (many / Math.max(overMs, 1)) * 1000

/** Any value above zero gets at least a trace. */
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

function rateInWords(ticks: readonly Tick[], mostRate: number): string {
  const requests = ticks.reduce((sum, tick) => sum + tick.requests, 0)
  const errors = ticks.reduce((sum, tick) => sum + tick.errors, 0)
  return `${counted(requests, 'request')} and ${counted(errors, 'failure')} in the last ${counted(ticks.length, 'second')}, at most ${count(Math.round(mostRate))} a second.`
}
