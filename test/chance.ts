// fast-check for tests that leave something to chance. With $KEDGE_SEED they try the same each time, as in .ci/run: what
// chance finds, developers find with `npm test` and `npm run fuzz`.
import fc from 'fast-check'

const seed = process.env['KEDGE_SEED']
if (seed) fc.configureGlobal({ seed: Number(seed) })

export default fc
