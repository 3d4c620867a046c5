"""Edits of joint.yaml that leave a valid study."""

SEARCHES = """
name=a-b_c9
num_trials=16.0
sampler={name: tpe, num_startup: 1}
sampler={name: grid};;search={rho: {choice: [0, 0.5, 1]}, N: {int: [1, 6], into: [pgd.num_steps, fgsm.num_steps]}}
objective={metric: loss, direction: minimize}
objective={metric: loss, direction: minimize};;early_stopping={first: 10}
early_stopping=null;;objective=null;;objectives=[{metric: dev}, {metric: cost/work, direction: minimize}]
search_budget={steps: 60}
warm_start={}
constraints=[]
early_stopping=null
early_stopping={first: 45, factor: 9}
early_stopping={first: 2, factor: 2};;base.selection.every=2
evaluations=[builtin/test, STS12/test, STS13/test, STS14/test, STS15/test, STS16/test, STS-B/test, SICK-R/test]
confirm=null
confirm.num_best=16
resources={executor: auto, workers: 32}
resources={threads: 4, max_concurrent: 2, max_attempts: 1, max_silence_s: 60}
allowance={hours_per_cell: [0.5, 1], steps_per_cell: 10, price_per_hour: 2}
baselines=[]
baselines=[untrained, start]
base.optimizer={lr: 1/1000, beta1: 0, beta2: 0.99, epsilon: 1e-6, weight_decay: 0.1, max_norm: 10}
base.budget={unit: epochs, amount: 2};;early_stopping=null
base.selection.dev=[STS-B, SICK-R]
base.selection.dev=[builtin, mine.tsv]
base.encoder={name: bert-base-uncased, pooling: cls}
base.encoder={name: /some/folder, pooling: first_last, revision: abc}
base.encoder={name: tiny, pooling: prompt, template: 'This sentence of "[X]" means [MASK].'}
base.encoder={name: tiny, pooling: mean, prompt: "query: "}
base.encoder={name: tiny, pooling: convolved}
baselines=[flow, augmented];;fine_tuning.augmented=0.15
base.optimizer={warmup: 6/100, schedule: constant}
base.optimizer={class: "torch.optim:SGD", settings: {momentum: 0.9}, lr: 1e-2}
search.encoder.prompt={choice: ["", "query: "]}
search.warmup={float: [0, 0.2]}
search.optimizer.class={choice: ["torch.optim:SGD", "torch.optim:RAdam"]}
base.corpus.source=[a.txt, b.txt.gz]
base.corpus.source={dataset: org/name, column: sentence, split: 'train[:1000]'}
base.corpus.source={seed: 3, num_sentences: 100}
base.method.rtd={share: 1, positions: everywhere, choice: sample, reduction: sum, h: before_head}
base.method.rtd.generator=some/model
base.method.token_level={scaling: after, write_back: last, redraw: epoch, sigma: 0.2}
base.method.masks={phi: 0.05, num_layers: 1, step_size: 1, sites: below_k}
base.method.blend.rho=0
base.method.blend.pgd.sigma=0.2;;base.method.blend.fgsm.sigma=0.2
search.alpha={choice: [1e-5, 1/1000]}
search.alpha={float: [1e-6, 1e-5]}
search.alpha=null
search.rho={float: [0.6, 1]}
search.N={int: [1, 2], into: [pgd.num_steps]}
search.optimizer.lr={log: [1e-4, 1e-2]}
search.phi=null;;search.masks.phi={float: [0, 0.1]}
search.batch_size={choice: [16, 32, 64]}
search.head={choice: [none, linear_tanh, batch_norm]}
search.corpus.limit={int: [100, 200]}
search.source={choice: [builtin, other.txt]}
search.radius={float: [1, 2], into: [pgd.ball.radius, fgsm.ball.radius]}
search.budget.amount={choice: [30, 60]};;early_stopping=null
sampler={name: gp}
sampler={name: cma_es, population_size: 4}
sampler={name: nsga2, population_size: 8}
sampler={name: nsga3}
search={head: {choice: [none, linear_tanh]}, alpha: {log: [1e-6, 1e-3], when: {head: none}}}
search={head: {choice: [none, linear_tanh]}, alpha: {log: [1e-6, 1e-3], when: {head: [none, linear_tanh]}}}
search={lr: {log: [1e-4, 1e-2]}, rho: {float: [0, 1], when: {}}}
search={kind: {variants: {paper: {}, simcse: {preset: simcse}, batch: {batch_size: 64}}}};;num_trials=3;;sampler.name=gp
search={kind: {variants: {paper: {}, small: {rho: 0}}}, beta: {log: [1e-3, 1e-2], when: {kind: paper}}}
search={kind: {variants: {a: {optimizer: {beta1: 0.8}}, b: {lr: 1e-4}}}, xi: {log: [1e-4, 1e-2], when: {kind: a}}}
search={kind: {variants: {rse: {}, l2p: {method: {name: l2p_csr}}}}, tau: {float: [0.03, 0.1]}}
search={kind: {variants: {rse: {}, l2p: {method: {name: l2p_csr}}}}, rho: {float: [0, 1], when: {kind: rse}}}
search={kind: {variants: {rse: {}, v: {method: {name: v_adv_cse}}}}, weight: {log: [1e-7, 1e-5], when: {kind: v}}}
"""

GRIDS = """
seeds=[3, 1, 2]
grid.axes.beta=[1e-3, 1/100, 0.02]
grid.axes={norm: {choice: [l1, l2], into: [pgd.ball.norm, fgsm.ball.norm, token_level.ball.norm]}}
grid.axes={N: {int: [1, 16], into: [pgd.num_steps, fgsm.num_steps]}}
grid.axes={N: {int: [0, 2], into: [pgd.num_steps, fgsm.num_steps]}};;base.method.lambda1=0
grid.axes=null
grid.rows=null
grid.rows.paper=null;;grid.rows.none={lambda2: 0}
grid.rows={base: {rho: 0.2}, '5': {rho: 0.3}, 'N = 5': {rho: 0.4}}
grid.rows.simcse={pgd.num_steps: 0, fgsm.num_steps: 0, lambda1: 0, lambda2: 0}
grid.rows.mapping={pgd: {step_size: 1e-4, num_steps: 3}, optimizer: {lr: 1/500}}
grid.rows.wiki={source: {dataset: org/name}}
grid.rows.paper.beta=5e-3
grid={axes: {xi: [1e-3, 1e-4], max_length: [16, 32], head: [none, linear_tanh]}}
grid={rows: {paper: {}, more: {phi: 0.1}}}
grid={factorial: {rho: [0, 0.5], beta: [1e-3, 1e-2]}, rows: {paper: {phi: 0.1}}}
grid={factorial: {rho: [0, 1], beta: [1e-3, 1e-2], phi: [0, 0.1], lambda2: [0, 1/200]}, resolution: 3}
grid={factorial: {N: {choice: [1, 5], into: [pgd.num_steps, fgsm.num_steps]}, kind: {variants: {a: {}, b: {tau: 0.1}}}}}
evaluations=[builtin/test, SICK-R/test]
objective={metric: loss, direction: minimize}
objective.metric=dev/kept
early_stopping=null
"""
