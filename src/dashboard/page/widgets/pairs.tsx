export { Pairs } from './view.jsx'
