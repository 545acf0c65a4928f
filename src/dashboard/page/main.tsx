/** Starts the page. */
import { render } from 'preact'
import { movedTo, viewAt } from '../routes.js'
import { App } from './app.jsx'
import { load } from './views.js'

const moved = movedTo(location)
if (moved !== undefined) history.replaceState(null, '', moved)

// Loads the view in parallel with the page's first request to the server. A failure is shown by the page.
const view = viewAt(location.pathname)
if (view) load(view).catch(() => {})

const place = document.getElementById('page')
if (place) {
  place.replaceChildren()
  render(<App />, place)
}
