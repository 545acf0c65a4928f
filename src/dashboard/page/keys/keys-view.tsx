/** The user's API keys: looked at, made, rolled, revoked and put to use. */
import { useState } from 'preact/hooks'
import type { KeyJson, NewKeyJson } from '../../wire.js'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { UsePanel } from '../connect/use-panel.jsx'
import { useListing } from '../listing.js'
import { RequireUser } from '../session/require-user.jsx'
import { Empty } from '../widgets/empty.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Shown } from '../widgets/shown.jsx'
import { View } from '../widgets/view.jsx'
import { CreateDialog } from './create-dialog.jsx'
import { KeyTable } from './key-table.jsx'
import { useKeysClient } from './keys-client.js'
import { RevokeDialog } from './revoke-dialog.jsx'
import { RollDialog } from './roll-dialog.jsx'
import { SecretDialog } from './secret-dialog.jsx'

/** Keys are used while somebody looks. */
const EVERY_MS = 5000

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly fresh: NewKeyJson }
  | { readonly kind: 'roll' | 'revoke'; readonly old: KeyJson }

export function KeysView() {
  return (
    <RequireUser>
      <Keys />
    </RequireUser>
  )
}

function Keys() {
  const keys = useKeysClient()
  const loaded = useListing(keys.list, EVERY_MS)
  const { setFresh } = useFreshKey()
  const [open, setOpen] = useState<Open>()

  // By the time that one dialog has closed, the next may be open.
  const close = (kind: Open['kind']) => () => setOpen(now => (now?.kind === kind ? undefined : now))
  const made = (fresh: NewKeyJson) => {
    setFresh(fresh)
    setOpen({ kind: 'secret', fresh })
    loaded.reload()
  }
  const create = (
    <button type="button" class="button button-main" onClick={() => setOpen({ kind: 'create' })}>
      <Icon name="plus" />
      Create key
    </button>
  )

  return (
    <View title="API keys" lead="With a key an app calls the language model in your name." action={create}>
      <Shown of={loaded}>
        {found =>
          found.length === 0 ? (
            <Empty title="No keys yet">
              <p>Create one for each place that needs one, so that each can be taken back by itself.</p>
            </Empty>
          ) : (
            <KeyTable
              keys={found}
              onRoll={old => setOpen({ kind: 'roll', old })}
              onRevoke={old => setOpen({ kind: 'revoke', old })}
            />
          )
        }
      </Shown>
      {/* Not before the keys, or it would be pushed down by them. */}
      {loaded.listing.kind !== 'loading' && (
        <section aria-labelledby="use">
          <h2 id="use">Use your key</h2>
          <UsePanel>A key that you create is filled in here, until you leave or reload this page.</UsePanel>
        </section>
      )}
      {open?.kind === 'create' && <CreateDialog keys={keys} onMade={made} onClosed={close('create')} />}
      {open?.kind === 'secret' && <SecretDialog fresh={open.fresh} onClosed={close('secret')} />}
      {open?.kind === 'roll' && <RollDialog old={open.old} keys={keys} onMade={made} onClosed={close('roll')} />}
      {open?.kind === 'revoke' && (
        <RevokeDialog old={open.old} keys={keys} onRevoked={loaded.reload} onClosed={close('revoke')} />
      )}
    </View>
  )
}
