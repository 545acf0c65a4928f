/** Says where a message is to be found: here in the outbox, or with its reader when a live backend has sent it. */
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { Link } from '../widgets/link.jsx'

export function WhereItWaits() {
  if (useConfig().auth_mode === 'proxy') return <>The live backend has sent it.</>
  return (
    <>
      Nothing is really sent from here: it waits in the <Link to={routes.outbox}>outbox</Link>.
    </>
  )
}
