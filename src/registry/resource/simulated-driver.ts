/** The driver of simulated nodes' devices. */
export const SIMULATED_DRIVER = 'simulated.kedge.dev'
