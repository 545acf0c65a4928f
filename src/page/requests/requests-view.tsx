/** The requests as they come, and one of them in full beside or instead of them. */
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { JournalBrief } from '../../journal/operations.js'
import { type Control, useControl } from '../api.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { navigate, useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { useWorking } from '../widgets/form.jsx'
import { Icon } from '../widgets/icon.jsx'
import type { Resource } from '../widgets/resource.js'
import { Notice } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { ExchangePanel } from './exchange-panel.jsx'
import { isRefusal } from './feed.js'
import { filterIn, matching, queryOf, textIn } from './filter.js'
import { FilterBar } from './filter-bar.jsx'
import { RateChart } from './rate-chart.jsx'
import { RequestList } from './request-list.jsx'
import { type Held, type LiveList, useHeld, useLive, useTextMatches } from './use-live.js'
import { count, counted } from './wording.js'

export function RequestsView() {
  const control = useControl()
  const { live, forget } = useLive(control)
  return (
    <View title="Requests" lead="What apps ask, and why they get what they get.">
      <DeveloperOnly of={resourceOf(live)}>
        {live => <Requests live={live} forget={forget} control={control} />}
      </DeveloperOnly>
    </View>
  )
}

/** A lost connection is restored automatically. Only a refusal needs the user's help. */
function resourceOf(live: LiveList): Resource<LiveList> {
  const isRefused = live.failure !== undefined && isRefusal(live.failure)
  return {
    value: isRefused || live.connection === 'opening' ? undefined : live,
    failure: isRefused ? live.failure : undefined,
    reload: () => {},
  }
}

interface Props {
  readonly live: LiveList
  readonly forget: () => void
  readonly control: Control
}

function Requests({ live, forget, control }: Props) {
  const { query } = useAddress()
  const written = query.toString()
  const filter = useMemo(() => filterIn(new URLSearchParams(written)), [written])
  const { search, status, mode, scope, problems } = filter
  const withText = useTextMatches(control, textIn(filter), live)
  const fits = useMemo(() => {
    const fitsInShort = matching({ search, status, mode, scope, problems })
    return (brief: JournalBrief) => fitsInShort(brief) && (withText?.has(brief.id) ?? true)
  }, [search, status, mode, scope, problems, withText])
  const open = query.get('id') ?? undefined
  const held = useHeld(live, fits)
  const scopes = useScopes(live)
  const close = useCallback(() => navigate(routes.requests + queryOf(filter)), [filter])
  useEscape(open === undefined ? undefined : close)

  const goLive = () => {
    held.setPressed(false)
    held.setReading(false)
    scrollTo({ top: 0 })
  }
  const place = held.rows.findIndex(({ id }) => id === open)
  const linkTo = (index: number) => {
    const there = place < 0 ? undefined : held.rows[index]
    return there && routes.requests + queryOf(filter, there.id)
  }

  return (
    <div class={open === undefined ? 'requests' : 'requests requests-open'}>
      <div class="requests-all">
        <RateChart ticks={live.ticks} />
        <FilterBar
          filter={filter}
          scopes={scopes}
          onChange={changed => navigate(routes.requests + queryOf(changed, open), { replace: true })}
        />
        <div class="requests-bar">
          <ListState
            live={live}
            held={held}
            onPause={() => held.setPressed(true)}
            onGoOn={goLive}
            onClear={async () => {
              await control('DELETE /journal')
              forget()
            }}
          />
        </div>
        <RequestList
          rows={held.rows}
          filter={filter}
          open={open}
          isFiltered={live.rows.length > 0}
          onReading={held.setReading}
          onAway={held.setAway}
          onPointing={held.point}
        />
      </div>
      {open !== undefined && (
        <ExchangePanel
          key={`${live.era} ${open}`}
          id={open}
          control={control}
          brief={live.rows.find(({ id }) => id === open) ?? held.rows[place]}
          newer={linkTo(place - 1)}
          older={linkTo(place + 1)}
          onClose={close}
        />
      )}
    </div>
  )
}

/** The scopes seen so far. Updated on each tick only, because more often would be too costly. */
function useScopes({ rows, ticks }: LiveList): readonly string[] {
  const [scopes, setScopes] = useState<readonly string[]>([])
  useEffect(() => {
    const seen = new Set(rows.map(({ scope }) => scope))
    setScopes(known => (known.length === seen.size && known.every(scope => seen.has(scope)) ? known : [...seen]))
    // A tick comes each second.
  }, [ticks, rows.length === 0])
  return scopes
}

/** Calls `then` when Escape is pressed and no dialog or field uses it. */
function useEscape(then: (() => void) | undefined): void {
  useEffect(() => {
    if (!then) return
    const press = (event: KeyboardEvent) => {
      const isTaken =
        event.target instanceof Element && event.target.matches('input[type=search], select, dialog, dialog *')
      if (event.key === 'Escape' && !isTaken && !event.defaultPrevented) then()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [then])
}

interface ListStateProps {
  readonly live: LiveList
  readonly held: Held
  readonly onPause: () => void
  readonly onGoOn: () => void
  readonly onClear: () => Promise<void>
}

const reasons = {
  pressed: 'Paused.',
  reading: 'Waits while you are in the list.',
  away: 'Waits while you are further down.',
  pointing: 'Waits while you point at it.',
} as const

/** The state of the list: paused or live, what has come meanwhile, and the buttons for it. */
export function ListState({ live, held: { reason, fresh, rows }, onPause, onGoOn, onClear }: ListStateProps) {
  const { busy, failure, run } = useWorking()
  const isEmpty = live.rows.length === 0
  const clear = () => {
    if (isEmpty) return
    return run(async () => {
      await onClear()
      announce('The requests are cleared.')
    })
  }
  const toggle = () => {
    announce(reason === 'pressed' ? 'Goes on.' : 'Paused.')
    return reason === 'pressed' ? onGoOn() : onPause()
  }
  return (
    <>
      <div class="list-state">
        <p class="quiet">
          {live.connection === 'lost' ? 'Not connected.' : reason ? reasons[reason] : 'Live.'}{' '}
          {counted(rows.length, 'request')}
          {live.skipped > 0 && `, ${count(live.skipped)} more only counted`}
        </p>
        {reason !== undefined && fresh > 0 && (
          <button type="button" class="button button-small button-main" onClick={onGoOn}>
            Show {count(fresh)} new
          </button>
        )}
        <button type="button" class="button button-small" onClick={toggle}>
          <Icon name={reason === 'pressed' ? 'play' : 'pause'} />
          {reason === 'pressed' ? 'Go on' : 'Pause'}
        </button>
        <button type="button" class="button button-small" aria-disabled={busy || isEmpty} onClick={clear}>
          Clear
        </button>
      </div>
      {live.connection === 'lost' && (
        <Notice tone="care">Standin isn’t running. Restart it and this page will reconnect.</Notice>
      )}
      {failure && <Notice tone="danger">{failure.message}</Notice>}
    </>
  )
}
