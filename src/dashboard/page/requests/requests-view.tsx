/** The requests as they arrive, and one of them in full. */
import { useCallback, useMemo } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { navigate, useAddress } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { useAction } from '../widgets/form.jsx'
import { useKeys } from '../widgets/keys.js'
import type { Resource } from '../widgets/resource.js'
import { FailureNote } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { count, counted } from '../wording.js'
import { ExchangePanel } from './exchange-panel.jsx'
import { isRefusal } from './feed.js'
import { type Filter, filterIn, matching, queryOf, textIn } from './filter.js'
import { FilterBar } from './filter-bar.jsx'
import { RequestList } from './request-list.jsx'
import { type Held, type LiveList, useHeld, useLive, useSettledRows, useTextMatches } from './use-live.js'

export function RequestsView() {
  const live = useLive()
  return (
    <View title="Requests" lead="Requests from your apps, and why each got its response.">
      <DeveloperOnly of={resourceOf(live)}>{live => <Requests live={live} />}</DeveloperOnly>
    </View>
  )
}

/** A lost connection is restored automatically. Only a refusal requires the user to act. */
function resourceOf(live: LiveList): Resource<LiveList> {
  const failure = live.failure && isRefusal(live.failure) ? live.failure : undefined
  return { value: live.connection === 'opening' ? undefined : live, failure, reload: () => {} }
}

function Requests({ live }: { readonly live: LiveList }) {
  const { query } = useAddress()
  const search = query.toString()
  const filter = useMemo(() => filterIn(new URLSearchParams(search)), [search])
  const key = queryOf(filter)
  const settled = useSettledRows(live)
  const fits = useFits(filter, settled[0]?.id)
  const open = query.get('id') ?? undefined
  const held = useHeld(live, fits)
  const close = useCallback(() => navigate(routes.requests + key), [key])
  const place = held.rows.findIndex(({ id }) => id === open)
  const neighbours = useNeighbours(held.rows, place, filter, open === undefined ? undefined : close)
  const change = (changed: Filter) => navigate(routes.requests + queryOf(changed, open), { replace: true })
  return (
    <div class={open === undefined ? 'requests stack' : 'requests stack requests-open'}>
      <div class="requests-all stack">
        <FilterBar filter={filter} rows={settled} onChange={change} />
        <ListState live={live} held={held} onClear={() => control('DELETE /journal')} />
        <RequestList
          filter={filter}
          open={open}
          rows={held.rows}
          isFiltered={live.rows.length > 0}
          onUsed={held.setUsed}
        />
      </div>
      {open !== undefined && (
        <ExchangePanel
          key={`${live.era} ${open}`}
          id={open}
          {...neighbours}
          brief={live.rows.find(({ id }) => id === open) ?? held.rows[place]}
          onClose={close}
        />
      )}
    </div>
  )
}

/** Whether a request passes the filter. To search bodies, asks the journal, and asks again when a new request arrives. */
function useFits(filter: Filter, newestId: string | undefined) {
  const withText = useTextMatches(textIn(filter), newestId)
  return useMemo(() => {
    const fitsInShort = matching(filter)
    return (brief: JournalBrief) => fitsInShort(brief) && (withText?.has(brief.id) ?? true)
  }, [queryOf(filter), withText])
}

/** The links to the previous and next exchange, and the keys that open them or close the current one. */
function useNeighbours(rows: Held['rows'], place: number, filter: Filter, close: (() => void) | undefined) {
  const linkTo = (index: number) => {
    const there = place < 0 ? undefined : rows[index]
    return there && routes.requests + queryOf(filter, there.id)
  }
  const [newer, older] = [linkTo(place - 1), linkTo(place + 1)]
  useKeys({
    Escape: close,
    j: older === undefined ? undefined : () => navigate(older),
    k: newer === undefined ? undefined : () => navigate(newer),
  })
  return { newer, older }
}

interface ListStateProps {
  readonly live: LiveList
  readonly held: Held
  readonly onClear: () => Promise<void>
}

/** The state of the list: live or paused, the number of new requests, and the buttons for both. */
function ListState({ live, held: { paused, fresh, rows, pause, resume }, onClear }: ListStateProps) {
  const { busy, failure, run } = useAction()
  const isEmpty = live.rows.length === 0
  const isPressed = paused === 'pressed'
  return (
    <div class="requests-bar">
      <div class="list-state row">
        <p class="quiet">
          {live.connection === 'lost' ? 'Not connected.' : paused ? 'Paused.' : 'Live.'}{' '}
          {counted(rows.length, 'request')}
          {live.skipped > 0 && `, ${count(live.skipped)} more not listed`}
        </p>
        {paused && fresh > 0 && (
          <Button small tone="main" onClick={resume}>
            Show {count(fresh)} new
          </Button>
        )}
        <Button small icon={isPressed ? 'play' : 'pause'} onClick={isPressed ? resume : pause}>
          {isPressed ? 'Resume' : 'Pause'}
        </Button>
        <Button
          small
          aria-disabled={busy || isEmpty}
          onClick={() => isEmpty || run(onClear, 'The requests were cleared.')}
        >
          Clear
        </Button>
      </div>
      <FailureNote failure={failure} />
    </div>
  )
}
