/** Whether the list goes on, what has come meanwhile, and what can be done about it. */
import { announce } from '../widgets/announcer.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import type { Held } from './use-held.js'
import type { Live } from './use-live.js'
import { count, counted } from './wording.js'

interface Props {
  readonly live: Live
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

export function ListState({ live, held: { reason, fresh, rows }, onPause, onGoOn, onClear }: Props) {
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
        <Notice tone="care">Standin does not answer. Start it again, and this list goes on by itself.</Notice>
      )}
      {failure && <Notice tone="danger">{failure.message}</Notice>}
    </>
  )
}
