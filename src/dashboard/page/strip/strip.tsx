/** What decides the next answer, always in view: each in a popover, with who changed it and a way back. */
import type { ComponentChildren } from 'preact'
import type { SituationJson } from '../../../http/situation.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { useLive } from '../live/live.js'
import { Link } from '../routing.jsx'
import { Button, Popover } from '../widgets/button.jsx'
import { useAction } from '../widgets/fields.jsx'
import { Moment } from '../widgets/moment.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { counted } from '../wording.js'
import { ClockMenu, clockInWords, FaultsMenu, ModeMenu, PaceMenu, paceInWords } from './menus.jsx'

export function Strip() {
  const situation = useLive(({ situation }) => situation)
  const { mode } = useConfig()
  // The control API is closed to this page, so that there is nothing to change.
  if (!situation) return <p class="strip quiet small">{mode}</p>
  const { faults, pace, clock, rules } = situation
  return (
    <section class="strip" aria-label="What decides the next answer">
      <Item of={situation} part="mode" name="Mode" value={situation.mode.mode}>
        <ModeMenu mode={situation.mode} />
      </Item>
      <Item
        of={situation}
        part="faults"
        name="Faults"
        value={faults.length > 0 ? `faults ${faults.length}` : 'no faults'}
      >
        <FaultsMenu faults={faults} />
      </Item>
      <Item of={situation} part="pace" name="Pace" value={paceInWords(pace)}>
        <PaceMenu pace={pace} />
      </Item>
      <Item of={situation} part="clock" name="Clock" value={clockInWords(clock)}>
        <ClockMenu />
      </Item>
      <Item of={situation} part="rules" name="Reset" value={rules > 0 ? `reset ⚡${rules}` : 'reset'}>
        <ResetMenu of={situation} />
      </Item>
    </section>
  )
}

type Part = keyof SituationJson['changed']

interface ItemProps {
  readonly of: SituationJson
  readonly part: Part
  readonly name: string
  readonly value: string
  readonly children: ComponentChildren
}

function Item({ of: { changed }, part, name, value, children }: ItemProps) {
  const change = changed[part]
  return (
    <Popover class={change ? 'strip-button strip-changed' : 'strip-button'} name={`${name}: ${value}`} label={value}>
      <h2>{name}</h2>
      {change && <Changed part={part} {...change} />}
      {children}
    </Popover>
  )
}

const actors = {
  dashboard: 'on the dashboard',
  test: 'by a test',
  'control API': 'by the control API',
  configuration: 'by the configuration',
} as const

/** Who changed a part, and a button that takes it back. */
function Changed({ part, by, at }: { readonly part: Part; readonly by: keyof typeof actors; readonly at: string }) {
  const { failure, run } = useAction()
  const takeBack = undo[part]
  return (
    <>
      <p class="row notice tone-care">
        <span class="grow">
          Changed {actors[by]} <Moment at={at} isReal />
        </span>
        {takeBack && (
          <Button small onClick={() => run(takeBack, 'Undone.')}>
            Undo
          </Button>
        )}
      </p>
      <FailureNote failure={failure} />
    </>
  )
}

/** Everything that a reset takes back. */
function ResetMenu({ of: { rules, repairs } }: { readonly of: SituationJson }) {
  const { failure, run } = useAction()
  const reset = (state: boolean) => run(() => control('POST /reset', { body: { state } }), 'Standin was reset.')
  return (
    <>
      <p class="quiet">
        A reset restores mode, pace, clock and limits, and removes faults, the list of requests,{' '}
        <Link to={routes.answers}>{counted(rules, 'temporary rule')}</Link> and {counted(repairs, 'repair')}.
      </p>
      <div class="row">
        <Button small onClick={() => reset(false)}>
          Reset, keep users and keys
        </Button>
        <Button small tone="warns" onClick={() => reset(true)}>
          Reset everything
        </Button>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

type Changes = SituationJson['changed']
type Undo = { readonly [Part in keyof Changes]?: () => Promise<unknown> }

/** The change, as the server knows it now. */
async function latest<Part extends keyof Changes>(part: Part) {
  const situation = await control('GET /situation')
  return { now: situation[part], from: situation.changed[part]?.from as SituationJson[Part] | undefined }
}

export const undo: Undo = {
  async mode() {
    const { from } = await latest('mode')
    if (from) await control('PUT /mode', { body: from })
  },
  async pace() {
    const { from } = await latest('pace')
    if (from) await control('PUT /pace', { body: from })
  },
  /** Removes the faults that were added, and adds those that were removed. */
  async faults() {
    const { now, from = [] } = await latest('faults')
    const without = (some: typeof now, others: typeof now) =>
      some.filter(one => others.every(({ id }) => id !== one.id))
    for (const { id } of without(now, from)) await control('DELETE /faults/{id}', { id })
    for (const { id: _id, ...fault } of without(from, now)) await control('POST /faults', { body: fault })
  },
  async clock() {
    const { from = { offsetMs: 0, frozenAt: null } } = await latest('clock')
    await control('PUT /clock', { body: { reset: true } })
    const { offsetMs, frozenAt } = from
    if (frozenAt !== null) await control('PUT /clock', { body: { now: frozenAt, frozen: true } })
    else if (offsetMs !== 0) await control('PUT /clock', { body: { advanceMs: Math.round(offsetMs) } })
  },
}
