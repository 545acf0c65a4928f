/** The run of an agent as a waterfall: its steps below each other, each where it was in time. */
import type { JournalBrief } from '../../../journal/operations.js'
import { StatusBadge } from '../widgets/badge.jsx'
import { memo } from '../widgets/memo.jsx'
import { count, counted, duration } from '../wording.js'
import { CopyTest } from './copy-test.jsx'
import { factsOfRun, type Run } from './items.js'
import { Repairs } from './repairs.jsx'
import { ExchangeLink, Reason, Value } from './request-row.jsx'
import { kindOf, subjectOf } from './words.js'

interface Props {
  readonly of: Run
  readonly open: string | undefined
  readonly isReachable: boolean
}

export const RunRow = memo(({ of: run, open, isReachable }: Props) => {
  const { steps } = run
  const facts = factsOfRun(run)
  const [first] = steps
  return (
    <li class="request run">
      <div class="request-line">
        <Value word="run" value={run.id}>
          <span class="badge tone-plain">run</span>
        </Value>
        <strong class="request-what cut">
          <bdi>{first && subjectOf(first)}</bdi>
        </strong>
        <span class="request-facts quiet">
          <span>{counted(steps.length, 'step')}</span>
          {facts.tokens > 0 && <span>{count(facts.tokens)} tok</span>}
          <span class="request-duration">{duration(facts.durationMs)}</span>
          <CopyTest id={run.id} isRun />
        </span>
      </div>
      <ol class="steps" aria-label="Steps of the run">
        {steps.map(step => (
          <Step key={step.id} of={step} run={facts} isOpen={step.id === open} isReachable={isReachable} />
        ))}
      </ol>
    </li>
  )
})

interface StepProps {
  readonly of: JournalBrief
  readonly run: ReturnType<typeof factsOfRun>
  readonly isOpen: boolean
  readonly isReachable: boolean
}

function Step({ of: brief, run, isOpen, isReachable }: StepProps) {
  const part = (ms: number) => `${Math.min(100, (ms / Math.max(run.durationMs, 1)) * 100)}%`
  const afterMs = Date.parse(brief.at) - run.startMs
  return (
    <li class={isOpen ? 'step request-open' : 'step'}>
      <span class="quiet">{kindOf(brief)}</span>
      <ExchangeLink of={brief} isOpen={isOpen} isReachable={isReachable} label={labelOf(brief)} />
      <Reason of={brief} />
      <span class="step-time" aria-hidden="true">
        <span class="step-bar" style={{ marginLeft: part(afterMs), width: part(brief.durationMs) }} />
      </span>
      {(brief.status ?? 0) >= 400 && <StatusBadge status={brief.status} />}
      <Repairs of={brief} />
    </li>
  )
}

/** The chats of a run have the same prompt, so that their answers tell more. */
const labelOf = (brief: JournalBrief) => brief.said || subjectOf(brief)
