/** The name with its mark: something solid that stands where something else is drawn in dashes. */
import { routes } from '../../routes.js'
import { Link } from '../widgets/link.jsx'

export function Brand() {
  return (
    <Link to={routes.connect} class="brand">
      <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
        <circle class="mark-absent" cx="8" cy="8" r="6.2" />
        <circle class="mark-present" cx="12" cy="12" r="6.2" />
      </svg>
      Standin
    </Link>
  )
}
