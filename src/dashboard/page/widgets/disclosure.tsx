export { Disclosure } from './view.jsx'
