# build.py converts this script to a notebook.
# ruff: noqa: D100, E402

# %% [markdown]
# # Label what you see, factor it out, look again
#
# The first map of a dataset shows its strongest structure. Once you have seen and named it, it is
# in the way. This notebook goes through one round of exploration, and begins the next, with
# scikit-learn's 1,797 images of handwritten digits: **the first map shows which digit it is, the
# second how it was written.**
#
# As in any exploration, this was not the first attempt: we chose method and perplexity after
# looking at several maps, and the third map uses another perplexity than the first two.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ctsne import ConditionalTSNE, pl

digits = load_digits()
X, images = digits.data, digits.images


def draw_images(Y, title, side=22):
    """Draw the map as a mosaic, with the image nearest to the centre in each field."""
    ax = plt.subplots(figsize=(7, 7))[1]
    low, width = Y.min(axis=0), np.ptp(Y, axis=0).max() / side
    fields = np.floor((Y - low) / width).astype(int)
    off = np.linalg.norm(Y - (low + (fields + 0.5) * width), axis=1)
    for field in np.unique(fields, axis=0):
        inside = np.flatnonzero((fields == field).all(axis=1))
        nearest = images[inside[off[inside].argmin()]]
        (left, bottom), (right, top) = field + 0.07, field + 0.93
        ax.imshow(nearest, cmap="Greys", extent=(left, right, bottom, top))
    ax.set(xlim=(0, side), ylim=(0, side), xticks=[], yticks=[])
    ax.set_title(title, loc="left", fontweight="bold")


# %% [markdown]
# ## The first map: which digit
#
# Plain t-SNE of the 64 pixels. By default, data of more than 50 columns are reduced to 50 principal
# components; `pca=None` compares the pixels themselves.

# %%
settings = {"perplexity": 100, "pca": None, "random_state": 0}
first = ConditionalTSNE(method="tsne", **settings).fit(X)
draw_images(first.embedding_, "t-SNE of the images")

# %% [markdown]
# You see at once that there are islands, with one digit on each. So we name them. Here the label
# comes with the data; otherwise you would mark the islands by hand, or cluster the data.

# %%
digit = digits.target.astype(str)
ax = pl.embedding(first.embedding_, digit, title="t-SNE, the islands named")

# %% [markdown]
# ## Factor it out
#
# Now the digit is known, so it goes into `labels`, at a high strength. With `align="mean"`, images
# of *other* digits are compared after subtracting the mean image of each digit: a 4 that leans is
# near a 7 that leans. Images of the same digit are compared as they are.

# %%
second = ConditionalTSNE(strength=0.8, align="mean", **settings).fit(X, labels=digit)
axes = pl.maps({"t-SNE": first.embedding_, "digit factored out": second.embedding_}, digit)

# %% [markdown]
# The islands are gone: every digit is surrounded by others. What determines the position of an
# image now?

# %%
draw_images(second.embedding_, "The digit factored out")

# %% [markdown]
# ## The second map: how it was written
#
# Follow the rim: narrow images on one side and wide ones opposite, images that lean to the right
# across from images that lean to the left, whichever digit they show. To check that we do not
# imagine this, we measure the images. All four numbers are moments of the ink, each **relative to
# the mean of its digit**: they describe how this 4 differs from other 4s.

# %%
row, column = np.mgrid[:8, :8]
ink = images.sum(axis=(1, 2))
down = row - ((images * row).sum(axis=(1, 2)) / ink)[:, None, None]
right = column - ((images * column).sum(axis=(1, 2)) / ink)[:, None, None]
tall = (images * down**2).sum(axis=(1, 2)) / ink
measured = {
    "slant": -(images * right * down).sum(axis=(1, 2)) / ink / tall,
    "width": np.sqrt((images * right**2).sum(axis=(1, 2)) / ink),
    "ink to the right": (images * column).sum(axis=(1, 2)) / ink,
    "ink in all": ink,
}


def relative(values):
    """Subtract the mean of the digit, and scale to a standard deviation of one."""
    means = np.array([values[digit == name].mean() for name in np.unique(digit)])
    left = values - means[digits.target]
    return left / left.std()


style = {name: relative(values) for name, values in measured.items()}
figure, panels = plt.subplots(2, 4, figsize=(13, 6.6), layout="constrained")
for line, (title, model) in zip(panels, {"t-SNE": first, "digit out": second}.items(), strict=True):
    for panel, (name, values) in zip(line, style.items(), strict=True):
        dots = panel.scatter(
            *model.embedding_.T, c=values, s=5, cmap="RdBu_r", vmin=-2.5, vmax=2.5, linewidths=0
        )
        panel.set(title=f"{title}: {name}", xticks=[], yticks=[], aspect="equal")
bar = figure.colorbar(
    dots, ax=panels, shrink=0.6, label="standard deviations from the digit's mean"
)

# %% [markdown]
# In the upper row, every island has its own order, unrelated to the others. In the lower row,
# slant, width and side vary across the whole map, for all digits together. The amount of ink does
# so less.
#
# ## A number for it
#
# Does a place in the map mean the same for different digits? Predict the style of each image from
# its 30 nearest neighbours in the map **among all other digits**, and correlate the prediction
# with the truth. Only an order that the digits share counts here.

# %%
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor


def shared_order(Y, values):
    """Correlate the values with those predicted from neighbours among other digits."""
    guess = np.empty_like(values)
    for name in np.unique(digit):
        own = digit == name
        others = KNeighborsRegressor(30).fit(Y[~own], values[~own])
        guess[own] = others.predict(Y[own])
    return np.corrcoef(guess, values)[0, 1]


order = pd.DataFrame(
    {
        title: {name: shared_order(model.embedding_, values) for name, values in style.items()}
        for title, model in {"t-SNE": first, "digit out": second}.items()
    }
)
order.round(2)

# %% [markdown]
# There is little shared order in the t-SNE map, and much more in the second map, for all four
# measures. It is not perfect: two dimensions have to hold everything that makes up a handwriting,
# and full strength gives up many neighbours for it (`ctsne.sweep` shows how many).
#
# ## And again
#
# Now the slant is known too. So we name it, in three classes, and factor out **digit and slant
# together**, as one label with their combination. The groups are smaller now, so the perplexity
# must be smaller as well.

# %%
lean = pd.cut(style["slant"], [-np.inf, -0.5, 0.5, np.inf], labels=["left", "upright", "right"])
both = np.char.add(np.char.add(digit, " "), np.asarray(lean, dtype=str))
third = ConditionalTSNE(strength=1, align="mean", **settings | {"perplexity": 20})
third.fit(X, labels=both)
order["digit and slant out"] = [shared_order(third.embedding_, values) for values in style.values()]
draw_images(third.embedding_, "Digit and slant factored out")
order.round(2)

# %% [markdown]
# The slant is gone from the map, and so is most of the width, which goes with it: **whatever goes
# with the label is factored out too.** The strongest order left is the side to which the ink
# leans. Continue in the same way: look, name, factor out, look again, until there is nothing left
# that you can name.
