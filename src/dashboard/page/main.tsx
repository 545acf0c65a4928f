/** Begins the page. */
import { render } from 'preact'
import { App } from './app.jsx'

const place = document.getElementById('page')
if (place) render(<App />, place)
