import { describe, expect, it } from 'vitest'
import { clockProblemsIn, timeProblemsIn } from './clocks.ts'

describe('a source file', () => {
  it.each([
    ['src/endpoints/verbs/get.ts', 'const now = Date.now()', 1],
    ['src/endpoints/verbs/get.ts', 'const now = new Date()', 1],
    ['src/endpoints/verbs/get.ts', 'const since = performance.now()', 1],
    ['src/endpoints/verbs/get.ts', "import { platformClock } from '../api/clock.ts'", 1],
    ['src/endpoints/verbs/get.ts', 'const at = new Date(request.clock())', 0],
    ['src/index.ts', "import { platformClock } from './api/clock.ts'", 0],
    ['src/index.ts', 'const now = Date.now()', 1],
    ['src/base/clock.ts', 'export const platformClock: Clock = () => Date.now()', 0],
  ])('%s: %s', (file, source, problems) => expect(clockProblemsIn(file, source)).toHaveLength(problems))
})

describe('a source file of the CLI', () => {
  it.each([
    ['src/cli/front/front.ts', 'const now = Date.now()', 1],
    ['src/cli/front/front.ts', 'now: Date.now,', 1],
    ['src/cli/front/front.ts', 'const now = new Date()', 1],
    ['src/cli/front/front.ts', 'const now = performance.now()', 0],
    ['src/cli/front/answer-date.ts', 'const now = Date.now()', 0],
  ])('%s: %s', (file, source, problems) => expect(timeProblemsIn(file, source)).toHaveLength(problems))
})
