/** Begins the page. */
import { render } from 'preact'
import { viewAt } from '../dashboard/routes.js'
import { App } from './app.jsx'
import { load } from './views.js'

// Together with what the page asks the server first. Where that fails the page says so.
load(viewAt(location.pathname) ?? 'connect').catch(() => {})

const place = document.getElementById('page')
if (place) render(<App />, place)
