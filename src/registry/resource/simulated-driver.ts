/** The DRA driver of simulated nodes. */
export const SIMULATED_DRIVER = 'simulated.kedge.dev'
