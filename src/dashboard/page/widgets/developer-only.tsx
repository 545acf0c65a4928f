export { DeveloperOnly } from './states.jsx'
