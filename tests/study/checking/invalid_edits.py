"""Edits of joint.yaml that leave no valid study, by what is wrong with them."""

SEARCHES = {
    "unknown key": """
questions=x
base.method.blend.pgd.num_step=3
base.method.token_level.ball.raduis=1
allowance.amount=3
allowance.max_hours=3
grid.row={} -> grid.row
""",
    "wrong type": """
base.method=simcse
base.method.lambda1=much
base.method.blend.pgd.num_steps=2.5
base.budget.amount=1/2
search.rho=[0, 1]
search.norm.choice=[l1, [l2]] -> search.norm.choice.1
search.N.into=5
""",
    "out of bounds": """
base.method.blend.pgd.step_size=0
base.selection.dev=[STS-B, STS-B]
base.selection.dev=[STS-B, STS12] -> base.selection.dev.1 = 'STS12'
base.corpus.source=[] -> base.corpus.source.paths
base.corpus.source={num_sentences: 1} -> base.corpus.source.num_sentences
seeds=[]
search.alpha={log: [1e-6, .inf]} -> search.alpha.log.1
search.N.int=[-1, 3] -> search.N = -1
search.batch_size={int: [1, 8]} -> search.batch_size = 1
sampler.population_size=3
resources.gpus=2
resources.labels={gpu: ""} -> resources.labels
resources.labels={"no spaces": h100} -> resources.labels
""",
    "missing": """
name=null -> name
confirm.seeds=null -> confirm.seeds
confirm.seeds={until: decided, at_least: 2} -> confirm.seeds.at_least = 2
ablation_path={seeds: {until: decided}} -> ablation_path.seeds
early_stopping.first=null -> early_stopping.first
""",
    "a condition": """
search.rho.when={N: 5} -> search.rho.when.N
search.rho.when={rho: 0.5} -> search.rho.when.rho
search.rho.when={norm: [l1, l3]} -> search.rho.when.norm = 'l3'
search.rho.when={norm: []} -> search.rho.when.norm
search.rho.when={norm: l1, head: none} -> search.rho.when
search.head={choice: [none, batch_norm], when: {norm: l1}};;search.rho.when={head: none} -> search.rho.when.head
search.norm.when={rho: 1} -> search.norm.when.rho
search.rho.when={norm: l1};;sampler.name=cma_es -> sampler.name = 'cma_es'
search.rho.when={norm: l1};;ablation_path={seeds: [3]} -> ablation_path
search.rho={float: [0, 2], when: {norm: l1}} -> search.norm = l1, rho = 2
search.beta={log: [2.5, 9], when: {norm: [l1, linf]}} -> search.beta
""",
    "variants": """
search.kind={variants: {only: {}}} -> search.kind.variants
search.kind={variants: {a: {}, b: {}}} -> search.kind.variants.b
search.kind={variants: {a: {}, b: {lambda2: 1/200}}} -> search.kind.variants.b
search.kind={variants: {a: {}, b: {head: none}}, into: method.head} -> search.kind
search.kind={variants: {a: {}, b: {head: none}}, when: {norm: l1}} -> search.kind
search.kind={variants: {a: {}, b: {pgd.num_steps: 3, blend: {pgd: {num_steps: 3}}}}} -> search.kind.variants.b.blend
search.kind={variants: {a: {}, b: {lambda2: 0.1}}} -> search.kind
search.kind={variants: {a: {}, b: {method: {name: l2p_csr}}}} -> search.alpha
search={k: {variants: {a: {}, b: {method: {name: l2p_csr}}}}, rho: {float: [0, 1], when: {k: [a, b]}}} -> search.rho
search={k: {variants: {a: {}, b: {rtd: {share: 0.3}}}}, rtd.share: {float: [0, 1], when: {k: b}}} -> search.rtd.share
search={kind: {variants: {a: {}, b: {rho: 0.1}}}, other: {variants: {c: {}, d: {rho: 0.2}}}} -> search.other
search.rho.when={norm: l1};;search.r={float: [0, 0.5], into: rho, when: {norm: [l1, l2]}} -> search.r
search={kind: {variants: {a: {}, b: {selection: {dev: STS-B}}}}} -> search.kind.variants.b
search={kind: {variants: {a: {}, b: {selection: {every: 5}}}}} -> search.kind
search={kind: {variants: {a: {}, b: {source: nowhere.txt}}}};;num_trials=2 -> search.kind
num_trials=3;;search={kind: {variants: {a: {}, b: {rho: 0.1}}}} -> num_trials
search={kind: {variants: {a: {}, b: {batch_size: 31}}}};;resources={executor: train, workers: 2} -> batch_size = 31
""",
    "a path that leads nowhere": """
search.rho.into=[pgd.rho] -> search.rho.into
search.rho.into=[] ;; search.roh={float: [0, 1]} -> search.roh
search.sigma={float: [0.1, 0.2]}
search.resources.workers={choice: [1, 2]}
search.N.into=[pgd.num_steps, pgd.num_steps] -> search.N.into
base.corpus.source=[nowhere.txt, neither.txt] -> base.corpus.source = 'neither.txt'
base.selection.dev=STS-B
""",
    "contradiction": """
seeds=[0, 0] -> seeds.1
seeds=[7, 0, 9] -> seeds
early_stopping.let_run=0.1 -> early_stopping
early_stopping={class: "optuna.pruners:NopPruner", first: 15, every: 15, let_run: 1} -> early_stopping
objective.direction=minimize -> objective
objective={metric: cost/work, direction: minimize} -> objective.metric
objectives=[{metric: dev}, {metric: cost/work, direction: minimize}] -> early_stopping
early_stopping=null;;objectives=[{metric: loss, direction: minimize}, {metric: dev}] -> objective.metric
objective=null;;objectives=[{metric: cost/work, direction: minimize}, {metric: dev}] -> objectives.0.metric
early_stopping=null;;objectives=[{metric: dev}, {metric: dev}] -> objectives.1
early_stopping=null;;objectives=[{metric: dev}, {metric: robust/spearman}] -> objectives.1.metric
sampler.name=cma_es;;objectives=[{metric: dev}, {metric: loss, direction: minimize}] -> sampler.name
constraints.0.at_most=3 -> constraints
num_trials=4;;search={rho: {choice: [0, 0.5, 1]}} -> num_trials
sampler.name=grid
sampler.name=cma_es;;num_trials=2;;search={rho: {choice: [0, 0.5, 1]}} -> sampler.name = 'cma_es'
ablation_path={seeds: [0, 3]} -> ablation_path.seeds.0 = 0
ablation_path={seeds: [3, 3]} -> ablation_path.seeds.1 = 3
ablation_path={seeds: [3]};;search.alpha={log: [1e-4, 1e-3]} -> search.alpha and ablation_path
warm_start.trials=[{rho: 0.1}] -> warm_start
search_budget={steps: 59} -> search_budget.steps
search_budget={steps: 600};;base.budget={unit: epochs, amount: 2};;early_stopping=null -> search_budget.steps
search_budget={steps: 600};;early_stopping=null;;search.budget.amount={int: [50, 90]} -> search_budget.steps
search_budget={cost: 5} -> search_budget.cost
search_budget={hours: 1} -> search_budget.hours
search.method.blend={choice: [a, b]} -> search.method.blend
search.N={float: [1, 16], into: [pgd.num_steps, fgsm.num_steps]} -> search.N
search.batch_size={log: [16, 64]} -> search.batch_size
search.selection.dev={choice: [builtin, STS-B]}
base.selection.every=20 -> early_stopping.first
base.method.lambda1=0;;search.N={int: [0, 3], into: [pgd.num_steps, fgsm.num_steps]} -> search.N = 0
base.method.blend.pgd.num_steps=0;;base.method.blend.fgsm.num_steps=0 -> base.method
base.method.blend.pgd.sigma=0.3 -> base.method.blend
base.method.token_level.ball.norm=l2 -> base.method
base.method.z_adv_eta=with;;base.method.token_level.presence=absent -> base.method
""",
    "test split as objective": """
base.selection.dev=test
""",
    "impossible resources": """
resources.workers=2 -> resources.executor
resources={executor: train, workers: 8};;search.batch_size={choice: [8, 12]} -> batch_size = 12
resources={executor: auto, workers: 2};;search.batch_size={int: [16, 18]} -> batch_size = 17
confirm.resources.workers=3 -> batch_size
ablation_path={seeds: [3], resources: {executor: inline, workers: 2}} -> ablation_path.resources.executor
""",
    "flat by construction": """
search.N.int=[2000, 4000] -> search.N
base.method.blend.fgsm.ball.radius=1e-4;;base.method.blend.pgd.ball.radius=1e-4 -> search.beta
""",
}

GRIDS = {
    "unknown key": """
grid.axis={}
grid.axes.beta={choice: [1e-3, 1e-2], too: x} -> grid.axes.beta.too
""",
    "wrong type": """
grid.axes.beta=1e-3
grid.axes.beta=null;;grid.axes.beta=
grid.axes.beta=[1e-3, [1]] -> grid.axes.beta.choice.1
grid.rows.paper.blend=0.5
""",
    "out of bounds": """
seeds={until: decided, at_least: 2};;grid.baseline=paper -> seeds.at_least = 2
seeds={until: decided, at_least: 8, at_most: 4};;grid.baseline=paper -> seeds
seeds={until: forever};;grid.baseline=paper -> seeds.until = 'forever'
seeds={until: decided, at_mots: 4};;grid.baseline=paper -> seeds.at_mots
grid.axes.beta=[1e-3, 1e-3]
grid.axes.N={int: [1, 1000000], into: [pgd.num_steps]} -> grid
grid.axes.rho=null;;grid.axes.beta=null;;grid.rows=null -> grid
grid.rows.paper.pgd={num_steps: -1} -> grid.rows.paper.pgd
seeds=[]
""",
    "a path that leads nowhere": """
grid.axes.pgd.num_step=[1, 2]
grid.axes.source=[builtin, nowhere.txt] -> grid.axes
""",
    "a condition": """
grid.axes.beta={choice: [1e-3, 1e-2], when: {rho: 0}} -> grid.axes.beta.when
grid.axes.kind={variants: {a: {}, b: {rho: 0.1}}} -> grid.axes.kind
""",
    "a planned contrast": """
contrasts.gain={paper: 1} -> contrasts.gain = {'paper': 1.0}
contrasts.gain={paper: 1, again: 1} -> contrasts.gain = {'paper': 1.0, 'again': 1.0}
contrasts.gain={paper: 1, again: x} -> contrasts.gain = {'paper': 1.0, 'again': 'x'}
contrasts.gain={paper: 1, nowhere: -1} -> contrasts.gain: no row 'nowhere'
contrasts.gain={paper: 1, nowhere: -1, by: roh} -> contrasts.gain.by = 'roh'
contrasts.gain={paper: 1, nowhere: -1, by: rho} -> contrasts.gain: no row 'beta = nowhere, rho = 0'
""",
    "a design": """
grid={factorial: {max_length: {int: [16, 17]}, beta: [1e-3, 1e-2]}} -> grid.factorial.max_length
grid={factorial: {rho: [0, 0.5], roh: [1e-3, 1e-2]}} -> grid.factorial.roh
grid={factorial: {rho: [0, 0.5], beta: {choice: [1, 2], when: {rho: 0}}}} -> grid.factorial.beta.when
grid={factorial: {rho: [0, 0.5], beta: [1e-3, 1e-2]}, baseline: rho = 2} -> grid.baseline
""",
    "contradiction": """
num_trials=4
sampler={name: random}
confirm={seeds: [7]}
ablation_path={seeds: [7]}
search={rho: {float: [0, 1]}} -> grid
grid.rows.again={rho: 0} -> grid.rows.again
grid.rows.paper.method.lambda2=0.02
grid.axes.blend.rho=[0, 1]
grid.axes.N={choice: [0, 2], into: [pgd.num_steps, fgsm.num_steps]} -> grid
grid.axes.selection.dev=[builtin, STS-B]
grid.rows.paper.selection.dev=STS-B -> grid.rows.paper
""",
    "impossible resources": """
resources={executor: inline, workers: 2} -> resources.executor
resources={executor: train, workers: 2};;grid.axes.batch_size=[7, 8] -> batch_size = 7
resources={executor: train, workers: 2};;grid.rows.paper.batch_size=9 -> batch_size = 9
""",
    "flat by construction": """
grid.axes.N={choice: [3000, 4000], into: [pgd.num_steps, fgsm.num_steps]} -> grid.axes.N
""",
}
