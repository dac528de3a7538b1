// fast-check for randomized tests. With $KEDGE_SEED, as in .ci/run, they try the same values each time; developers find
// new failures with `npm test` and `npm run fuzz`.
import fc from 'fast-check'

const seed = process.env['KEDGE_SEED']
if (seed) fc.configureGlobal({ seed: Number(seed) })

export default fc
