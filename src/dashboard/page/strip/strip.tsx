/** What decides the next answer, always in view: the mode, and whatever differs from the configuration, each with a way back. */
import type { SituationItem } from '../../../situation/operations.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { EditorLink } from '../editor-link.jsx'
import { useLive } from '../live/live.js'
import { useAction } from '../widgets/action.js'
import { Button, Icon, Popover } from '../widgets/button.jsx'
import { exactly } from '../widgets/moment.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { ClockMenu, FaultsMenu, ModeMenu, PaceMenu, ResetMenu } from './menus.jsx'

/** More would push the views out of sight. */
const MOST = 4

export function Strip() {
  const situation = useLive(({ situation }) => situation)
  const { mode } = useConfig()
  // The control API is closed to this page, so that there is nothing to change.
  if (!situation) return <p class="strip quiet small">{mode}</p>
  const [now, ...others] = situation.data
  return (
    <section class="strip" aria-label="What decides the next answer">
      <Popover
        class={now?.undo ? 'strip-button strip-changed' : 'strip-button'}
        name={`Mode: ${now?.says ?? mode}`}
        label={now?.says ?? mode}
      >
        <h2>Mode</h2>
        {now?.undo && (
          <p class="row notice tone-care">
            <span class="grow">{changedBy(now)}</span>
            <Undo of={now}>Undo</Undo>
          </p>
        )}
        <ModeMenu situation={situation} />
      </Popover>
      <Changes of={others.filter(({ undo }) => undo !== null)} />
      <Popover class="strip-button" name="Change what decides the next answer" label="Change…">
        <h2>Faults</h2>
        <FaultsMenu />
        <h2>Pace</h2>
        <PaceMenu situation={situation} />
        <h2>Clock</h2>
        <ClockMenu situation={situation} />
        <h2>Reset</h2>
        <ResetMenu />
      </Popover>
    </section>
  )
}

/** What differs from the configuration: the first of it in view, and all of it in a menu if that is more. */
function Changes({ of: items }: { readonly of: readonly SituationItem[] }) {
  const shown = items.length > MOST ? items.slice(0, MOST - 1) : items
  return (
    <>
      <Changed of={shown} />
      {items.length > shown.length && (
        <Popover
          class="strip-button strip-changed"
          name={`All ${items.length} changes`}
          label={`${items.length - shown.length} more`}
        >
          <h2>What differs from the configuration</h2>
          <Changed of={items} />
        </Popover>
      )}
    </>
  )
}

const actors = {
  dashboard: 'the dashboard',
  test: 'a test',
  'control API': 'the control API',
  configuration: 'the configuration',
} as const

const changedBy = ({ by, at }: SituationItem) => (by ? `Changed by ${actors[by]}, ${at ? exactly(at) : ''}` : '')

/** Things that differ, each with who changed it, and a button that takes it back. */
const Changed = ({ of: items }: { readonly of: readonly SituationItem[] }) => (
  <>
    {items.map(item => (
      <span key={item.undo} class="strip-item strip-changed" title={changedBy(item)}>
        <bdi class="cut">{item.says}</bdi>
        {item.by && item.by !== 'dashboard' && <span class="quiet"> ({actors[item.by]})</span>}
        <Undo of={item} />
      </span>
    ))}
  </>
)

interface UndoProps {
  readonly of: SituationItem
  readonly children?: string
}

function Undo({ of: { says, undo }, children }: UndoProps) {
  const { busy, failure, run } = useAction()
  const takeBack = () => run(() => control('DELETE /situation/{id}', { id: undo ?? '' }), `Undone: ${says}.`)
  return (
    <>
      <Button
        small
        tone={children ? undefined : 'bare'}
        aria-label={children ? undefined : `Undo ${says}`}
        title="Back to what is configured"
        aria-disabled={busy}
        onClick={takeBack}
      >
        {children ?? <Icon name="undo" />}
      </Button>
      <FailureNote failure={failure} />
    </>
  )
}

/** One red line in every view, while a changed file is not valid, so that what was valid before is still in use. */
export function FileProblems() {
  const problems = useLive(({ situation }) => situation?.problems)
  const [first, ...others] = problems ?? []
  if (!first) return null
  const { origin, line, column, sentence } = first
  const place = line === undefined ? origin : `${origin}:${line}:${column ?? 1}`
  return (
    <div class="problem-line danger" role="alert">
      <Icon name="alert" />
      <EditorLink of="rules" place={place} />
      <span class="grow">
        {sentence} What was valid before is still in use.{others.length > 0 && ` ${others.length} more below it.`}
      </span>
    </div>
  )
}
