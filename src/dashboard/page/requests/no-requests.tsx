/** What the list says while there is nothing in it. */
import { routes } from '../../routes.js'
import { Empty } from '../widgets/empty.jsx'
import { Link } from '../widgets/link.jsx'

export function NoRequests({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No request fits">
        <p>Others have come; this is what is searched for among them.</p>
      </Empty>
    )
  }
  return (
    <Empty title="No requests yet">
      <p>
        They appear here as apps ask. <Link to={routes.connect}>Connect</Link> says where to point one.
      </p>
    </Empty>
  )
}
